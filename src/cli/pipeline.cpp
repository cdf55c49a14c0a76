#include <omp.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <sstream>
#include "archive/checkpoint_file.hpp"
#include "arithmetic/range_guard.hpp"
#include "archive/codeword_file.hpp"
#include "archive/hiding_files.hpp"
#include "archive/staged_file.hpp"
#include "archive/trace_file.hpp"
#include "cluster/scope_memory.hpp"
#include "cost/rates.hpp"
#include "commitment/codeword.hpp"
#include "commitment/row_groups.hpp"
#include "commitment/schedule.hpp"
#include "lookup/strange_value.hpp"
#include "model/float_model.hpp"
#include "architecture/inference.hpp"
#include "model/integer_model.hpp"
#include "model/quantization.hpp"
#include "tokenizer/tokenizer.hpp"
#include "protocol/protocol.hpp"
#include "plan/witness.hpp"
#include "transcript/shown_bits.hpp"

#include "cli/pipeline.hpp"
#include "cli/rank_measures.hpp"
#include "cli/rates_file.hpp"

namespace tessera::cli {
namespace {

/// The trace of an earlier run of the same job, if every rank has its part of it.
std::optional<Trace> stored_trace(const VerifyingKey& key, const ModelPlan& plan, const JobPlan& job,
                                  const Statement& statement, Communicator& comm, Progress& progress) {
  enum : std::int64_t { usable, missing, unusable };
  const std::filesystem::path path = trace_path(job.scratch, comm);
  std::optional<Trace> trace;
  std::error_code ignored;
  std::int64_t state = std::filesystem::exists(path, ignored) ? usable : missing;
  std::string reason = path.string() + ": that of another rank is damaged or another job's";
  try {
    if (state == usable) {
      trace = load_trace(path, key.digest(), comm, plan, prompt_rows(statement), key.shape.n_vocab, statement.start);
    }
  } catch (const InputError& error) {
    state = unusable;
    reason = error.what();
  }
  // ranks that hold traces of different tokens would prove different statements
  std::vector<std::uint32_t> ids;
  if (trace) {
    ids = trace->tokens;
    ids.push_back(trace->last_token);
  }
  const Digest tokens =
      blake2s({reinterpret_cast<const std::uint8_t*>(ids.data()), ids.size() * sizeof(std::uint32_t)});
  const std::vector<Digest> all = comm.all_gather(std::span(&tokens, 1));
  comm.all_reduce_max(std::span(&state, 1));
  if (state == usable && !std::ranges::all_of(all, [&](const Digest& other) { return other == all.front(); })) {
    state = unusable;
  }
  if (state == unusable) {
    progress.note("inference is done again: " + reason);
  }
  return state == usable ? std::move(trace) : std::nullopt;
}

Trace make_trace(const Model& model, const VerifyingKey& key, const ModelPlan& plan, const JobPlan& job,
                 const Statement& statement, const Past& past, const Generation& generation,
                 RecordingCommunicator& comm, Progress& progress) {
  if (!job.scratch.empty()) {
    std::error_code error;
    std::filesystem::create_directories(through_links(job.scratch), error);
    if (error) {
      throw InputError("--scratch " + job.scratch + ": cannot be written: " + error.message());
    }
    if (std::optional<Trace> trace = stored_trace(key, plan, job, statement, comm.unrecorded(), progress)) {
      comm.skip_work();
      progress.note("inference taken from " + job.scratch);
      return std::move(*trace);
    }
  }
  progress.begin("inference");
  Trace trace = [&] {
    try {
      return run_inference({key, &model.parameters}, plan, prompt_rows(statement), comm, progress.updates(),
                           past.tensors, generation);
    } catch (const RangeError& error) {
      throw WrongValue(key.hiding_proofs == 0 ? error.what()
                                              : "inference: a value is outside its range; which one is not said, "
                                                "because the key is hiding");
    } catch (const OtherToken& error) {
      if (!job.expected.empty()) {
        throw;
      }
      throw WrongValue(error.what());  // ids of an earlier job that the model does not choose
    }
  }();
  if (!job.scratch.empty()) {
    progress.begin("writing trace");
    save_trace(trace_path(job.scratch, comm), key.digest(), comm.unrecorded(), plan, trace, statement.start);
    comm.barrier();
  }
  return trace;
}

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

/// Row variables of the shortest proofs.
OpeningSchedule shortest_opening(const VerifyingKey& key) {
  const ModelPlan plan = ModelPlan::of(key, 1, 1);
  const std::size_t extra = plan.hiding ? salt_elements : 0;
  return opening_schedule(std::vector<CommittedOracle>{{plan.parameter_layout, key.parameter_oracle, {}, extra},
                                                       {plan.witness_layout, plan.witness_oracle, {}, extra}});
}

/// The larger a commitment, the larger the error of every proof under its key, shortest ones included. Random columns
/// shall not be the reason why proofs need more work before row variables.
void require_sound_proofs(const VerifyingKey& key) {
  VerifyingKey plain = key;
  plain.hiding_proofs = 0;
  const OpeningSchedule schedule = shortest_opening(key);
  const double error = static_cast<double>(schedule.row_challenges(0) * schedule.row_error(0));
  const double bits = 128 - std::log2(error) + shortest_opening(plain).row_work(0);
  if (bits < required_soundness_bits) {
    std::ostringstream found;
    found << std::fixed << std::setprecision(1) << shown_bits(bits);
    throw InputError("--proofs: expected so few that proofs have " +
                     std::to_string(static_cast<int>(required_soundness_bits)) + " bits of soundness, found " +
                     std::to_string(key.hiding_proofs) + ", which leave " + found.str());
  }
}

}  // namespace

VerifyingKey commit_model(const Model& model, const Digest& parameters, const std::filesystem::path& directory,
                          CodewordKind kind, const std::optional<HidingCommitment>& hiding, std::uint32_t exceptions,
                          Communicator& comm, Progress& progress) {
  ParameterMaxima maxima = parameter_maxima(model.parameters);
  comm.all_reduce_max(std::span(maxima));
  check_bounds(model, maxima);
  progress.begin("encoding and writing parameters");
  VerifyingKey key = make_verifying_key(model, hiding ? hiding->proofs : 0);
  key.exceptions = exceptions;
  check_key(key);  // that the oracle can be as large
  if (hiding) {
    require_sound_proofs(key);
  }
  const Division division = Division::finest(comm.size());
  const OracleLayout layout = parameter_layout(key, division);
  const ParameterTensors parameter_tensors = ParameterTensors::of(model.shape, model.parameters, comm.rank(), division);
  std::vector<IntegerTensor> tensors = parameter_tensors.views();
  std::optional<HidingSecret> secret;
  ChunkedTensor<std::int64_t> tail;
  if (hiding) {
    secret.emplace(commitment_seed(hiding->secret, parameters, key));
    tail = random_columns(layout.tensors().back(), secret->columns, comm);
    tensors.emplace_back(&tail);
  }
  const OracleParameters& oracle = key.parameter_oracle;
  CodewordWriter writer(directory,
                        {oracle.log_rows, layout.log_size() - oracle.log_rows + oracle.log_inverse_rate,
                         hiding ? static_cast<unsigned>(salt_elements) : 0U},
                        comm, kind);
  const std::size_t rows = std::size_t{1} << oracle.log_rows;
  encode_rows(layout, oracle, tensors, writer.columns(), comm, [&](Range range, std::span<const F> values) {
    writer.append(range.size(), values);
    progress.update(range.last, rows);
  });
  if (hiding) {
    RawVector<F> salt(writer.columns().size() * salt_elements);
    secret->salt->elements(writer.columns().first * salt_elements, std::span<F>(salt));
    writer.append_salt(salt);
  }
  progress.begin("waiting for the disk");
  key.parameter_root = writer.finish(parameters);
  return key;
}

namespace {

/// The steps of a proof with the times that they should take: at this machine's rates where they were measured.
std::vector<ExpectedStep> expected_steps(const ModelPlan& plan, const VerifyingKey& key, const JobPlan& job,
                                         bool compact, const Communicator& comm) {
  const int threads = omp_get_max_threads();
  Rates rates = nominal_rates();
  std::error_code ignored;
  if (const std::filesystem::path path = default_rates_path(); std::filesystem::exists(path, ignored)) {
    try {
      rates = rates_for(load_rates(path), comm.size(), threads).value_or(rates);
    } catch (const InputError&) {  // not worth a word: the shares are less exact
    }
  }
  std::vector<ExpectedStep> steps;
  const JobShape shape{comm.size(), 1, compact, job.memory};
  for (const PhaseCost& phase : proof_cost(plan, key.parameter_oracle, shape)) {
    const std::string name = phase.scope == "/check" ? "checking the proof" : phase.scope.substr(1);
    steps.push_back({name, seconds_of(phase, rates)});
  }
  return steps;
}

}  // namespace

std::filesystem::path trace_path(const std::string& scratch, const Communicator& comm) {
  return std::filesystem::path(scratch) / ("trace-" + std::to_string(comm.rank()) + ".h5");
}

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
  const PassShape pass = PassShape::of(archive.statement);
  const ModelPlan plan = ModelPlan::of(key, pass, pass.division(comm.size()));
  model.divide(plan.division);
  progress.expect(expected_steps(plan, key, job, false, comm));
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
