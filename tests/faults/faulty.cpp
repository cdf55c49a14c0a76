// tessera with a rank that computes wrongly: who follows its proving jobs flips one bit of that rank's data while a
// phase runs. TESSERA_FAULT="PHASE RANK once|always|killed [BIT]"; the rank is that of the job. "killed": once, and it
// is killed in the opening. The phase "alone": it finds a wrong value that others do not.
#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "api/proving.hpp"
#include "cli/program.hpp"
#include "lookup/strange_value.hpp"

namespace tessera::test {
namespace {

struct Fault {
  std::string phase;
  int rank = -1;
  std::string times;
  unsigned bit = 3;

  static Fault asked() {
    Fault fault;
    const char* text = std::getenv("TESSERA_FAULT");
    std::istringstream(text == nullptr ? "" : text) >> fault.phase >> fault.rank >> fault.times >> fault.bit;
    return fault;
  }
};

/// Flips the bit of one value of the tensor, if this rank has a part of it and others, too. Again: as it was.
bool flip(const IntegerTensor& tensor, unsigned bit) {
  return std::visit(
      [bit]<class T>(const ChunkedTensor<T>* chunks) {
        auto& values = const_cast<ChunkedTensor<T>*>(chunks)->values();
        if (chunks->ownership().dimension == Ownership::replicated || values.empty()) {
          return false;
        }
        T& value = values[values.size() / 2];
        value = static_cast<T>(value ^ static_cast<T>(T{1} << bit));
        return true;
      },
      tensor);
}

class Faulty final : public JobFollower {
 public:
  void planned(const ProvingJob& job, const ModelPlan& /*plan*/) override {
    ++attempts_;
    job_ = &job;
    witness_.clear();
    turn("inference");
  }
  void inferred(const ModelPlan& plan, const Statement& /*statement*/, const Trace& trace) override {
    turn("inference");
    if (wrong_in("trace")) {
      for (std::size_t i = 0; i < trace.tensors.size() && !flip(trace.view(i), fault_.bit); ++i) {
      }
    }
    for (const Source& source : plan.witness_sources) {
      if (source.kind == Source::Kind::recorded) {
        witness_.push_back(trace.view(source.number));
      }
    }
    if (job_->checks) {  // one rank of each attempt
      std::ostringstream ids;
      for (const std::uint32_t id : trace.generated_tokens()) {
        ids << ' ' << id;
      }
      std::fprintf(stderr, "faulty: generated%s\n", ids.str().c_str());
    }
  }
  void begins(std::string_view scope) override {
    if (scope == "/lookup" && wrong_in("alone")) {
      throw StrangeValue("a value that others do not find wrong");
    }
    if (scope == "/opening") {
      turn("layers");
      if (fault_.times == "killed" && is_wrong()) {
        (void)std::raise(SIGKILL);
      }
    }
    turn(phase_of(scope));
  }
  void ends(std::string_view scope) override {
    turn(phase_of(scope));
    if (scope == "/lookup") {
      turn("layers");
    }
  }

 private:
  /// The phase that one scope is; empty: none.
  static std::string_view phase_of(std::string_view scope) {
    return scope == "/commitment" ? "commitment"
           : scope == "/lookup"   ? "lookups"
           : scope == "/opening"  ? "opening"
                                  : "";
  }
  [[nodiscard]] bool is_wrong() const {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return fault_.rank == rank && (fault_.times == "always" || attempts_ == 1);
  }
  [[nodiscard]] bool wrong_in(std::string_view phase) const { return fault_.phase == phase && is_wrong(); }

  /// At the beginning of a phase what it works with becomes wrong, at the end right again.
  void turn(std::string_view phase) {
    if (!wrong_in(phase)) {
      return;
    }
    if (phase == "inference") {  // a weight; with a high bit, other tokens are chosen
      auto& weights = const_cast<Parameters&>(job_->model.model().parameters)[ParameterId::wv];
      std::int16_t& weight = weights.values()[weights.values().size() / 2];
      weight = static_cast<std::int16_t>(weight ^ (1 << fault_.bit));
    } else {
      for (std::size_t i = 0; i < witness_.size() && !flip(witness_[i], fault_.bit); ++i) {
      }
    }
  }

  Fault fault_ = Fault::asked();
  int attempts_ = 0;
  const ProvingJob* job_ = nullptr;     // of the attempt
  std::vector<IntegerTensor> witness_;  // what is committed to of its trace
};

}  // namespace
}  // namespace tessera::test

int main(int argc, char** argv) {
  tessera::test::Faulty faulty;
  return tessera::cli::run_program(argc, argv, &faulty);
}
