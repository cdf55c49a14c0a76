#include <omp.h>

#include "architecture/ownership.hpp"
#include "archive/checkpoint_file.hpp"
#include "cli/job_trace.hpp"
#include "cli/pipeline.hpp"
#include "cli/rank_measures.hpp"
#include "cli/rates_file.hpp"
#include "cluster/scope_memory.hpp"
#include "cost/rates.hpp"

namespace tessera::cli {
namespace {

/// A job's checkpoints, if it has any.
class Checkpoints {
 public:
  Checkpoints(const VerifyingKey& key, const JobPlan& job, const Statement& statement, Communicator& comm,
              Progress& progress)
      : progress_(progress) {
    if (!job.checkpoint.empty()) {
      // the ids that are generated are zeros here
      directory_.emplace(job.checkpoint, statement_seed(key, statement), std::chrono::duration<double>(60 * job.every),
                         comm);
      known_ = directory_->load();
      tell();
    }
  }
  [[nodiscard]] const ProofCheckpoint& known() const { return known_; }
  /// An earlier job has left some.
  [[nodiscard]] bool any() const { return !known_.generated.empty() || !known_.witness_nodes.empty(); }
  /// `expected`: what is known where no checkpoint says more.
  [[nodiscard]] Generation generation(const std::vector<std::uint32_t>& expected) {
    Generation generation{known_.generated.size() > expected.size() ? known_.generated : expected, {}};
    if (directory_) {
      generation.chosen = [this](std::span<const std::uint32_t> ids) {
        directory_->save_unfinished({{ids.begin(), ids.end()}, {}, {}, {}, {}});
        tell();
      };
    }
    return generation;
  }
  [[nodiscard]] PhaseListener listener() {
    if (!directory_) {
      return {};
    }
    return [this](ProofPhase phase, const ProofCheckpoint& checkpoint) {
      directory_->save(phase, checkpoint);
      tell();
    };
  }

 private:
  void tell() {
    for (const std::string& note : directory_->take_notes()) {
      progress_.note(note);
    }
  }
  Progress& progress_;
  std::optional<CheckpointDirectory> directory_;
  ProofCheckpoint known_;
};

/// The steps of a proof with the times that they should take: at this machine's rates where they were measured.
std::vector<ExpectedStep> expected_steps(const ModelPlan& plan, const VerifyingKey& key, const JobShape& job) {
  Rates rates = nominal_rates();
  try {
    rates = rates_for(load_rates(default_rates_path()), job).value_or(rates);
  } catch (const InputError&) {  // not worth a word: the shares are less exact
  }
  const JobCost cost = cost_of(plan, key, job);
  std::vector<ExpectedStep> steps;
  for (std::size_t i = 0; i < phase_count; ++i) {
    const auto phase = static_cast<Phase>(i);
    const std::string_view begins = phase == Phase::layers  ? "final"  // the first of theirs
                                    : phase == Phase::check ? "checking the proof"
                                                            : name_of(phase);
    steps.push_back({std::string(begins), seconds_of(phase, cost, rates)});
  }
  return steps;
}

/// What a part of the job takes: time, memory and communication by scope.
class Measures {
 public:
  explicit Measures(CountingCommunicator& comm) : comm_(comm) {
    memory_.begin("/");
    comm_.begin("/");
  }
  void begins(std::string_view scope) {
    memory_.begin(scope);
    if (scope == check) {  // one rank's work
      checked_ = seconds();
    } else {
      comm_.begin(scope);
    }
  }
  void ends(std::string_view scope) {
    memory_.end();
    if (scope != check) {
      comm_.end();
    }
    if (scope == inference) {
      inferred_ = seconds();
    }
  }
  /// No scope follows. Collective.
  void end() {
    memory_.end();
    comm_.end();
  }
  /// Fills in what was measured; `timings`: of the transcript's scopes. Collective.
  void tell(ProofArchive& archive, const std::map<std::string, double>& timings, Communicator& comm) {
    archive.timings.push_back({std::string(inference), inferred_, 0});
    for (const auto& [scope, time] : timings) {
      archive.timings.push_back({scope, time, 0});
    }
    archive.timings.push_back({std::string(check), seconds() - checked_, 0});
    archive.timings.push_back({"/", seconds(), 0});
    archive.ranks = measures_of_ranks(archive.timings, memory_, comm);
    archive.communication = comm_.gather();
    memory_.reduce(comm);
    for (ScopeTiming& timing : archive.timings) {
      timing.peak_memory = memory_.peak(timing.scope);
    }
    archive.memory_measure = memory_.measure();
    archive.machine.peak_memory = memory_.process_peak();
  }

 private:
  static constexpr std::string_view inference = "/inference", check = "/check";
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  ScopeMemory memory_;
  CountingCommunicator& comm_;
  double inferred_ = 0, checked_ = 0;
};

/// Measures, shows, records and keeps what the program's options ask for.
class ProgramJob final : public JobFollower {
 public:
  ProgramJob(const CommittedModel& committed, const JobPlan& job, RecordingCommunicator& comm, Context& context)
      : committed_(committed),
        job_(job),
        comm_(comm),
        progress_(context.progress),
        watcher_(context.watcher),
        measures_(comm.unrecorded()) {}

  void step(std::string_view name) override {
    progress_.begin(std::string(name));
    proving_ = name == "proving";
  }
  void begins(std::string_view scope) override {
    if (proving_ && scope.find('/', 1) == std::string_view::npos) {
      progress_.step(std::string(scope.substr(1)));
    }
    measures_.begins(scope);
    if (watcher_ != nullptr) {
      watcher_->begins(scope);
    }
  }
  void ends(std::string_view scope) override {
    if (watcher_ != nullptr) {
      watcher_->ends(scope);
    }
    measures_.ends(scope);
  }
  void planned(const ProvingJob& job, const ModelPlan& plan) override {
    progress_.expect(expected_steps(plan, committed_.key,
                                    {.ranks = comm_.size(),
                                     .threads = omp_get_max_threads(),
                                     .compact = committed_.codeword->compact(),
                                     .codeword_budget = job_.memory}));
    checkpoints_.emplace(committed_.key, job_, job.statement, comm_.unrecorded(), progress_);
    if (checkpoints_->any()) {
      comm_.skip_work();
    }
    ownership_ = ownership_of(plan, comm_.size());
    if (watcher_ != nullptr) {
      watcher_->planned(job, plan);
    }
  }
  ProofCheckpoint known() override { return checkpoints_->known(); }
  std::optional<Trace> stored_trace(const ModelPlan& plan, const Statement& statement) override {
    std::optional<Trace> trace =
        cli::stored_trace(committed_.key, plan, job_, statement, comm_.unrecorded(), progress_);
    if (trace) {
      comm_.skip_work();
    }
    return trace;
  }
  Generation generation() override { return checkpoints_->generation(job_.expected); }
  tessera::Progress inferring() override { return progress_.updates(); }
  void inferred(const ModelPlan& plan, const Statement& statement, const Trace& trace) override {
    if (watcher_ != nullptr) {
      watcher_->inferred(plan, statement, trace);
    }
    store_trace(committed_.key, plan, job_, statement, trace, comm_.unrecorded(), progress_);
  }
  PhaseListener phases() override { return checkpoints_->listener(); }
  void made(std::span<const std::uint8_t> payload) override { comm_.record("/check", std::as_bytes(payload)); }

  /// Fills in what was measured; of a hiding proof nothing: how long things take depends on what they are of.
  /// Collective.
  void end(ProofArchive& archive, const std::map<std::string, double>& timings) {
    measures_.end();
    if (committed_.hiding == nullptr) {
      measures_.tell(archive, timings, comm_);
      archive.ownership = std::move(ownership_);
    }
  }

 private:
  const CommittedModel& committed_;
  const JobPlan& job_;
  RecordingCommunicator& comm_;
  Progress& progress_;
  JobFollower* watcher_;
  Measures measures_;
  bool proving_ = false;
  std::optional<Checkpoints> checkpoints_;
  std::vector<OwnedDimension> ownership_;
};

}  // namespace

ProvenPart prove_model(ProverModel& model, const CommittedModel& committed, const JobPlan& job, const Past& past,
                       bool checks, RecordingCommunicator& comm, Context& context) {
  Statement statement;
  statement.prompt = job.prompt;
  statement.generated.resize(job.generate);
  statement.start = past.state;
  statement.keeps = job.keeps;
  statement.pass_length = job.pass_length;
  statement.sampling = sampling_in(job);
  ProgramJob follower(committed, job, comm, context);
  try {
    ProvenStatement proven =
        prove_statement({model, committed, std::move(statement), past, checks, job.memory}, follower, comm);
    ProvenPart part;
    part.archive.statement = std::move(proven.statement);
    part.archive.payload = std::move(proven.proof.payload);
    part.archive.soundness = std::move(proven.soundness);
    part.rejected = std::move(proven.rejected);
    follower.end(part.archive, proven.proof.timings);
    part.kept = {proven.proof.kept, std::move(proven.proof.state), std::move(proven.proof.state_nodes)};
    return part;
  } catch (const OtherToken& error) {
    if (!job.expected.empty()) {
      throw;
    }
    throw WrongValue(error.what());  // ids of an earlier job that the model does not choose
  }
}

}  // namespace tessera::cli
