#include "cli/pipeline.hpp"

#include <omp.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "archive/checkpoint_file.hpp"
#include "cli/job_trace.hpp"
#include "cli/rank_measures.hpp"
#include "cli/rates_file.hpp"
#include "cluster/scope_memory.hpp"
#include "cost/rates.hpp"
#include "lookup/strange_value.hpp"
#include "model/float_model.hpp"
#include "model/integer_model.hpp"
#include "protocol/protocol.hpp"
#include "tokenizer/tokenizer.hpp"

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

/// Nothing false leaves this program: a damaged or foreign commitment, stored trace or machine shows here.
std::string check_own_proof(const VerifyingKey& key, const ProofArchive& archive) {
  const Verdict verdict = verify_inference(key, archive.statement, archive.payload);
  return verdict.accepted ? "" : "the proof that was just made is rejected at " + verdict.scope + ": " + verdict.reason;
}

}  // namespace

std::string read_text_file(const std::string& path) {
  std::ifstream stream;
  if (!std::filesystem::is_directory(path)) {
    stream.open(path, std::ios::binary);
  }
  std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream.is_open() || stream.bad()) {
    throw InputError(path + ": expected a readable text file, found none");
  }
  return text;
}

std::string read_edited_text_file(const std::string& path) {
  std::string text = read_text_file(path);
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    throw InputError(path + ": expected a text file in UTF-8, found one in UTF-16");
  }
  constexpr std::string_view mark = "\xef\xbb\xbf";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

Evaluation evaluate_model(const Model& model, const FloatModel* original, const std::string& text, Communicator& comm,
                          Progress& progress) {
  const std::vector<std::uint32_t> tokens = Tokenizer(model.tokenizer).encode(text);
  if (tokens.size() < 2) {
    throw InputError("--text: expected at least two tokens, found " + std::to_string(tokens.size()));
  }
  Evaluation result;
  result.windows = (tokens.size() + model.shape.n_positions - 1) / model.shape.n_positions;
  std::optional<FloatTransformer> transformer;
  if (original != nullptr && comm.rank() == 0) {
    transformer.emplace(*original);
  }
  progress.begin("evaluating");
  result.comparison =
      compare_models(integer_model(model), transformer ? &*transformer : nullptr, tokens, comm, progress.updates());
  return result;
}

namespace {

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

}  // namespace

ProvenPart prove_model(ProverModel& model, const VerifyingKey& key, StoredCodeword& parameters, const HidingUse* hiding,
                       const JobPlan& job, const Past& past, bool checks, RecordingCommunicator& comm,
                       Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  ScopeMemory memory;
  memory.begin("/");
  memory.begin("/inference");
  CountingCommunicator& counts = comm.unrecorded();
  counts.begin("/");
  counts.begin("/inference");
  ProofArchive archive;
  archive.statement.prompt = job.prompt;
  archive.statement.generated.resize(job.generate);
  archive.statement.start = past.state;
  archive.statement.keeps = job.keeps;
  archive.statement.pass_length = job.pass_length;
  archive.statement.sampling = sampling_in(job);
  const PassShape pass = PassShape::of(archive.statement);
  const ModelPlan plan = ModelPlan::of(key, pass, pass.division(comm.size()));
  model.divide(plan.division);
  progress.expect(expected_steps(plan, key,
                                 {.ranks = comm.size(),
                                  .threads = omp_get_max_threads(),
                                  .compact = parameters.compact(),
                                  .codeword_budget = job.memory}));
  Checkpoints checkpoints(key, job, archive.statement, counts, progress);
  if (checkpoints.any()) {
    comm.skip_work();
  }
  const Trace trace = make_trace(model.model(), key, plan, job, archive.statement, past,
                                 checkpoints.generation(job.expected), comm, progress);
  const PhaseListener finished = checkpoints.listener();
  ProofCheckpoint resume = checkpoints.known();
  resume.generated = trace.generated_tokens();
  if (finished) {
    finished(ProofPhase::inference, resume);
  }
  const double inference = seconds();
  memory.end();
  counts.end();
  archive.statement.generated = trace.generated_tokens();
  progress.begin("proving");
  const auto begins = [&](std::string_view path) {
    if (path.find('/', 1) == std::string_view::npos) {
      progress.step(std::string(path.substr(1)));
    }
    memory.begin(path);
    counts.begin(path);
  };
  const auto ends = [&](std::string_view /*path*/) {
    memory.end();
    counts.end();
  };
  const ParameterTensors& tensors = model.tensors();
  ProverOptions prover{{begins, ends}, job.memory, past.nodes, {}, std::move(resume), finished, [&] {
                         if (!parameters.compact()) {
                           model.release_tensors();
                         }
                       }};
  if (hiding) {
    prover.hiding = hiding->options(comm);
  }
  parameters.bind(
      plan.parameter_layout, key.parameter_oracle,
      [&] { return hiding ? hiding->with_columns(tensors.views()) : tensors.views(); },
      hiding ? hiding->salt() : nullptr);
  Proof proof = [&] {
    try {
      return prove_inference(plan, key, archive.statement, trace, tensors, parameters, comm, prover);
    } catch (const StrangeValue& error) {
      throw WrongValue(error.what());
    }
  }();
  archive.payload = std::move(proof.payload);
  archive.soundness = soundness_report(plan, key);
  progress.begin("checking the proof");
  const double proven = seconds();
  memory.begin("/check");
  comm.record("/check", std::as_bytes(std::span(archive.payload)));
  const std::string rejected = checks ? check_own_proof(key, archive) : "";
  memory.end();
  memory.end();
  counts.end();
  if (hiding == nullptr) {  // how long things take depends on what they are of
    archive.timings.push_back({"/inference", inference, 0});
    for (const auto& [scope, time] : proof.timings) {
      archive.timings.push_back({scope, time, 0});
    }
    archive.timings.push_back({"/check", seconds() - proven, 0});
    archive.timings.push_back({"/", seconds(), 0});
    archive.ranks = measures_of_ranks(archive.timings, memory, comm);
    archive.communication = counts.gather();
    archive.ownership = ownership_of(plan, comm.size());
    memory.reduce(comm);
    for (ScopeTiming& timing : archive.timings) {
      timing.peak_memory = memory.peak(timing.scope);
    }
    archive.memory_measure = memory.measure();
    archive.machine.peak_memory = memory.process_peak();
  }
  return {std::move(archive), {proof.kept, std::move(proof.state), std::move(proof.state_nodes)}, rejected};
}

}  // namespace tessera::cli
