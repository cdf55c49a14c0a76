// tessera with a rank that computes wrongly: what the linker puts around the phases of a proof flips one bit of that
// rank's data while a phase runs. TESSERA_FAULT="PHASE RANK once|always|killed [BIT]"; the rank is that of the job.
// "killed": once, and it is killed in the opening. The phase "alone": it finds a wrong value that others do not.
#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "architecture/inference.hpp"
#include "commitment/codeword.hpp"
#include "lookup/lookup.hpp"
#include "lookup/strange_value.hpp"
#include "transcript/transcript.hpp"

namespace tessera::test {
namespace {

#define TESSERA_WRAPPED(NAME) __asm__("__wrap_" NAME)
#define TESSERA_REAL(NAME) __asm__("__real_" NAME)
#define TESSERA_INFERENCE                                                                                 \
  "_ZN7tessera13run_inferenceERKNS_12IntegerModelERKNS_9ModelPlanESt4spanIKjLm18446744073709551615EERNS_" \
  "12CommunicatorERKSt8functionIFvmmEERKSt6vectorINS_13ChunkedTensorIsEESaISI_EERKNS_10GenerationE"
#define TESSERA_COMMITMENT                                                                            \
  "_ZN7tessera13commit_oracleERKNS_12OracleLayoutERKNS_16OracleParametersESt4spanIKSt7variantIJPKNS_" \
  "13ChunkedTensorIsEEP"                                                                              \
  "KNS8_ItEEPKNS8_IiEEPKNS8_IlEEEELm18446744073709551615EERNS_12CommunicatorEmSt10shared_ptrIKNS_10LeafExtrasEE"
#define TESSERA_LOOKUPS                                                                  \
  "_ZN7tessera12prove_lookupERNS_16ProverTranscriptERKNS_15LookupStructureESt4spanIKNS_" \
  "16LookupColumnDataELm18446744073709"                                                  \
  "551615EERKSt6vectorIS9_IlSaIlEESaISB_EERNS_12CommunicatorE"
#define TESSERA_OPENING                                                                                              \
  "_ZN7tessera13prove_openingERNS_16ProverTranscriptESt4spanIKNS_15CommittedOracleELm18446744073709551615EES2_IKNS_" \
  "13Oracle"                                                                                                         \
  "WitnessELm18446744073709551615EES2_IKSt6vectorINS_7ClaimOfINS_1EEEESaISC_EELm18446744073709551615EERNS_"          \
  "12CommunicatorE"

struct Fault {
  std::string phase;
  int rank = -1;
  std::string times;
  unsigned bit = 3;
};

int attempts = 0;
std::vector<IntegerTensor> witness;  // of the attempt

const Fault& fault() {
  static const Fault known = [] {
    Fault asked;
    const char* text = std::getenv("TESSERA_FAULT");
    std::istringstream(text == nullptr ? "" : text) >> asked.phase >> asked.rank >> asked.times >> asked.bit;
    return asked;
  }();
  return known;
}

bool is_faulty() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return fault().rank == rank && (fault().times == "always" || attempts == 1);
}

/// Whether this rank is wrong in this phase of this attempt, and how.
const Fault* fault_in(const std::string& phase) { return fault().phase == phase && is_faulty() ? &fault() : nullptr; }

/// Flips the bit of one value of the first tensor that this rank has a part of and others, too. Again: as it was.
void flip(std::span<const IntegerTensor> tensors, unsigned bit) {
  for (const IntegerTensor& tensor : tensors) {
    const bool flipped = std::visit(
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
    if (flipped) {
      return;
    }
  }
}

/// As long as it lives.
class Flipped {
 public:
  Flipped(const std::string& phase, std::span<const IntegerTensor> tensors)
      : fault_(fault_in(phase)), tensors_(tensors) {
    turn();
  }
  ~Flipped() { turn(); }
  Flipped(const Flipped&) = delete;
  Flipped& operator=(const Flipped&) = delete;

 private:
  void turn() {
    if (fault_ != nullptr) {
      flip(tensors_, fault_->bit);
    }
  }
  const Fault* fault_;
  std::span<const IntegerTensor> tensors_;
};
std::unique_ptr<Flipped> in_layers;

}  // namespace

using Counts = std::vector<std::vector<std::int64_t>>;
Trace real_inference(const IntegerModel&, const ModelPlan&, std::span<const std::uint32_t>, Communicator&,
                     const Progress&, const PastState&, const Generation&) TESSERA_REAL(TESSERA_INFERENCE);
Trace wrapped_inference(const IntegerModel&, const ModelPlan&, std::span<const std::uint32_t>, Communicator&,
                        const Progress&, const PastState&, const Generation&) TESSERA_WRAPPED(TESSERA_INFERENCE);
std::unique_ptr<CodewordStore> real_commitment(const OracleLayout&, const OracleParameters&,
                                               std::span<const IntegerTensor>, Communicator&, std::size_t,
                                               std::shared_ptr<const LeafExtras>) TESSERA_REAL(TESSERA_COMMITMENT);
std::unique_ptr<CodewordStore> wrapped_commitment(const OracleLayout&, const OracleParameters&,
                                                  std::span<const IntegerTensor>, Communicator&, std::size_t,
                                                  std::shared_ptr<const LeafExtras>)
    TESSERA_WRAPPED(TESSERA_COMMITMENT);
LookupClaims real_lookups(ProverTranscript&, const LookupStructure&, std::span<const LookupColumnData>, const Counts&,
                          Communicator&) TESSERA_REAL(TESSERA_LOOKUPS);
LookupClaims wrapped_lookups(ProverTranscript&, const LookupStructure&, std::span<const LookupColumnData>,
                             const Counts&, Communicator&) TESSERA_WRAPPED(TESSERA_LOOKUPS);
void real_opening(ProverTranscript&, std::span<const CommittedOracle>, std::span<const OracleWitness>,
                  std::span<const std::vector<Claim>>, Communicator&) TESSERA_REAL(TESSERA_OPENING);
void wrapped_opening(ProverTranscript&, std::span<const CommittedOracle>, std::span<const OracleWitness>,
                     std::span<const std::vector<Claim>>, Communicator&) TESSERA_WRAPPED(TESSERA_OPENING);

/// A weight is wrong; with a high bit, other tokens are chosen.
Trace wrapped_inference(const IntegerModel& model, const ModelPlan& plan, std::span<const std::uint32_t> prompt,
                        Communicator& comm, const Progress& progress, const PastState& past,
                        const Generation& generation) {
  ++attempts;
  const Fault* wrong = fault_in("inference");
  const auto turn = [&] {
    if (wrong != nullptr) {
      auto& weights = (*const_cast<Parameters*>(model.parameters))[ParameterId::wv];
      std::int16_t& weight = weights.values()[weights.values().size() / 2];
      weight = static_cast<std::int16_t>(weight ^ (1 << wrong->bit));
    }
  };
  turn();
  Trace trace = real_inference(model, plan, prompt, comm, progress, past, generation);
  turn();
  if (fault_in("trace") != nullptr) {
    std::vector<IntegerTensor> recorded;
    for (std::size_t i = 0; i < trace.tensors.size(); ++i) {
      recorded.push_back(trace.view(i));
    }
    flip(recorded, fault_in("trace")->bit);
  }
  if (comm.rank() == 0) {
    std::ostringstream ids;
    for (const std::uint32_t id : trace.generated_tokens()) {
      ids << ' ' << id;
    }
    std::fprintf(stderr, "faulty: generated%s\n", ids.str().c_str());
  }
  return trace;
}

std::unique_ptr<CodewordStore> wrapped_commitment(const OracleLayout& layout, const OracleParameters& parameters,
                                                  std::span<const IntegerTensor> tensors, Communicator& comm,
                                                  std::size_t budget, std::shared_ptr<const LeafExtras> extras) {
  witness.assign(tensors.begin(), tensors.end());
  const Flipped flipped("commitment", tensors);
  return real_commitment(layout, parameters, tensors, comm, budget, std::move(extras));
}

LookupClaims wrapped_lookups(ProverTranscript& transcript, const LookupStructure& structure,
                             std::span<const LookupColumnData> columns, const Counts& multiplicities,
                             Communicator& comm) {
  if (fault_in("alone") != nullptr) {
    throw StrangeValue("a value that others do not find wrong");
  }
  LookupClaims claims = [&] {
    const Flipped flipped("lookups", witness);
    return real_lookups(transcript, structure, columns, multiplicities, comm);
  }();
  in_layers = std::make_unique<Flipped>("layers", witness);
  return claims;
}

void wrapped_opening(ProverTranscript& transcript, std::span<const CommittedOracle> oracles,
                     std::span<const OracleWitness> witnesses, std::span<const std::vector<Claim>> claims,
                     Communicator& comm) {
  in_layers.reset();
  if (fault().times == "killed" && is_faulty()) {
    (void)std::raise(SIGKILL);
  }
  const Flipped flipped("opening", witnesses[1].tensors);
  real_opening(transcript, oracles, witnesses, claims, comm);
}

}  // namespace tessera::test
