#include "cli/attempt.hpp"

#include <chrono>

#include "api/commitment.hpp"
#include "archive/hiding_files.hpp"
#include "archive/model_file.hpp"
#include "architecture/model_plan.hpp"
#include "cli/exit_code.hpp"
#include "cli/expected.hpp"
#include "cli/rank_measures.hpp"
#include "cli/verify_chat.hpp"
#include "cluster/serialization.hpp"
#include "words/compact_codeword.hpp"
#include "plan/ends.hpp"
#include "tokenizer/decode.hpp"
#include "tokenizer/tokenizer.hpp"

namespace tessera::cli {
namespace {

/// The file with what was generated elsewhere, as text or as ids; an empty name if there is none.
const std::string& expected_file(const ProveCommand& options) {
  return options.expect.empty() ? options.expect_ids : options.expect;
}

/// Rank 0 resolves the prompt; all ranks get the same plan.
JobPlan make_plan(const ProveCommand& options, const Model& model, const Past& past, Communicator& comm) {
  JobPlan plan;
  if (comm.rank() == 0) {
    plan.prompt = options.tokens;
    std::optional<Tokenizer> tokenizer;
    if (options.prompt || !options.messages.empty() || !expected_file(options).empty()) {
      tokenizer.emplace(model.tokenizer);
    }
    if (options.prompt) {
      plan.prompt = past.state ? tokenizer->encode(*options.prompt) : tokenizer->encode_prompt(*options.prompt);
    }
    if (!options.messages.empty()) {
      plan.prompt = ids_of_messages(*tokenizer, options.messages,
                                    past.state ? std::optional(past.state->last_token) : std::nullopt);
    }
    plan.keeps = !options.keep.empty();
    if (!expected_file(options).empty()) {
      plan.expected = read_expected(expected_file(options), options.expect.empty(), *tokenizer, plan.prompt);
    }
    plan.generate = plan.expected.empty() ? options.generate : static_cast<std::uint32_t>(plan.expected.size());
    plan.pass_length = options.pass_length;
    plan.sampling = sampling_of(options.sampling).value_or(Sampling{});
    plan.samples = options.sampling.samples();
    plan.scratch = options.scratch;
    plan.checkpoint = options.checkpoint;
    plan.every = options.every;
    plan.memory = static_cast<std::uint64_t>(options.memory * ProveCommand::gibibyte);
  }
  broadcast_object(comm, plan);
  check_prompt(plan.prompt, past.state ? past.state->length + 1 : 0, plan.generate, model.shape);
  return plan;
}

void require_no_states(const ProveCommand& options) {
  if (!options.keep.empty() || !options.start.empty()) {
    throw InputError("--keep, --continue: expected none of them, because the key of " + options.commitment +
                     " is hiding: states of hiding proofs are not supported");
  }
  if (!options.checkpoint.empty()) {  // what a phase made must never be made twice from one seed, nor be kept
    throw InputError("--checkpoint: expected none, because the key of " + options.commitment + " is hiding");
  }
}

/// The error that is being handled, if all ranks have it. A rank that has it alone goes no further: the others wait for
/// it in other calls.
std::exception_ptr common_error(MpiCommunicator& ranks) {
  constexpr std::chrono::seconds patience(60);
  if (!ranks.all_meet(patience)) {
    throw;
  }
  return std::current_exception();
}

/// What is generated up to an end token, or plan.generate tokens: then it is proven as what is expected, in one pass.
void generate_to_the_end(ProverModel& model, const VerifyingKey& key, const Past& past, JobPlan& plan,
                         RecordingCommunicator& comm, Progress& progress) {
  Statement statement;
  statement.prompt = plan.prompt;
  statement.generated.resize(plan.generate);
  statement.start = past.state;
  statement.sampling = sampling_in(plan);
  const PassShape pass = PassShape::of(statement);
  const ModelPlan lengths = ModelPlan::of(key, pass, pass.division(comm.size()));
  model.divide(lengths.division);
  progress.begin("generating");
  try {
    plan.expected = generate({key, &model.model().parameters}, lengths, prompt_rows(statement), comm.unrecorded(),
                             past.tensors, {}, [&key](std::uint32_t id) { return is_end(key.tokenizer, id); });
  } catch (const RangeError& error) {
    throw_out_of_range(key, error);
  }
  plan.generate = static_cast<std::uint32_t>(plan.expected.size());
}

}  // namespace

void check_prompt(std::span<const std::uint32_t> ids, std::size_t before, std::size_t generate,
                  const ModelShape& shape) {
  if (ids.empty() && before == 0) {
    throw InputError("--prompt: expected at least one token, found none");
  }
  for (const std::uint32_t id : ids) {
    if (id >= shape.n_vocab) {
      throw InputError("--tokens: expected ids below " + std::to_string(shape.n_vocab) + ", found " +
                       std::to_string(id));
    }
  }
  const std::size_t total = before + ids.size() + generate;
  if (total > shape.n_positions) {
    throw InputError("--prompt and --generate: expected at most " + std::to_string(shape.n_positions) +
                     " tokens together, found " + std::to_string(total) +
                     (before > 0 ? " with the " + std::to_string(before) + " of --continue" : ""));
  }
}

Attempt attempt_proof(const ProveCommand& options, Context& context, MpiCommunicator& ranks, bool checks,
                      ProverModel* at_hand) {
  CountingCommunicator counted(ranks);
  RecordingCommunicator comm(counted);
  context.progress.begin(at_hand == nullptr ? "reading model and commitment" : "reading commitment");
  std::optional<ProverModel> loaded;
  ProverModel& model = at_hand != nullptr ? *at_hand : loaded.emplace(options.model, comm, false);
  const CommittedModel committed = open_commitment(options.model, model.model(), options.commitment, comm);
  const VerifyingKey& key = committed.key;
  Attempt attempt;
  attempt.hiding = committed.hiding != nullptr;
  if (attempt.hiding) {
    attempt.key = CountedKey::of(key);
    keep_process_private();
    require_no_states(options);
  }
  const Past past = load_state(options.start, key, ModelPlan::state_shapes(key.shape), comm);
  JobPlan plan = make_plan(options, model.model(), past, comm);
  try {
    if (options.until_end) {
      generate_to_the_end(model, key, past, plan, comm, context.progress);
    }
    attempt.part = prove_model(model, committed, plan, past, checks, comm, context);
  } catch (const OtherToken& other) {  // on all ranks
    throw InputError(expected_file(options) + ": " +
                     difference(key.tokenizer, plan.expected, options.expect.empty(), other));
  } catch (const WrongValue&) {
    attempt.error = common_error(ranks);
  } catch (const WrongColumn&) {
    attempt.error = common_error(ranks);
  }
  attempt.record = comm.take_record();
  if (attempt.error) {
    attempt.failure = describe(attempt.error).message;
    return attempt;
  }
  attempt.failure = attempt.part.rejected;
  ProofArchive& proof = attempt.part.archive;
  proof.key_digest = committed.key_digest;
  std::vector<std::uint32_t> ids = proof.statement.prompt;
  ids.insert(ids.end(), proof.statement.generated.begin(), proof.statement.generated.end());
  proof.text = decode(key.tokenizer, ids);
  if (!attempt.hiding) {  // else it says nothing of the operator's machines
    proof.configuration = context.configuration;
    proof.machine.ranks = static_cast<std::uint32_t>(comm.size());
    proof.hosts = hosts_of(comm);
    proof.machine.threads = static_cast<std::uint32_t>(context.threads);
  }
  return attempt;
}

}  // namespace tessera::cli
