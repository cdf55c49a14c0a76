#include <unistd.h>

#include <array>
#include <cstdio>

#include "api/commitment.hpp"
#include "archive/checkpoint_file.hpp"
#include "archive/hdf5.hpp"
#include "archive/hiding_files.hpp"
#include "archive/model_file.hpp"
#include "archive/state_file.hpp"
#include "architecture/model_plan.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/pipeline.hpp"
#include "archive/staged_directory.hpp"
#include "cluster/serialization.hpp"
#include "memory/storage.hpp"
#include "tokenizer/decode.hpp"

namespace tessera::cli {
namespace {

/// Rank 0 resolves the prompt; all ranks get the same plan.
JobPlan make_plan(const ProveCommand& options, const Model& model, const Past& past, Communicator& comm) {
  JobPlan plan;
  if (comm.rank() == 0) {
    plan.prompt = options.tokens;
    if (options.prompt) {
      const Tokenizer tokenizer(model.tokenizer);
      plan.prompt = past.state ? tokenizer.encode(*options.prompt) : tokenizer.encode_prompt(*options.prompt);
    }
    plan.keeps = !options.keep.empty();
    plan.generate = options.generate;
    plan.pass_length = options.pass_length;
    plan.scratch = options.scratch;
    plan.checkpoint = options.checkpoint;
    plan.every = options.every;
    plan.memory = static_cast<std::uint64_t>(options.memory * ProveCommand::gibibyte);
  }
  broadcast_object(comm, plan);
  if (plan.prompt.empty() && !past.state) {
    throw InputError("--prompt: expected at least one token, found none");
  }
  for (const std::uint32_t id : plan.prompt) {
    if (id >= model.shape.n_vocab) {
      throw InputError("--tokens: expected ids below " + std::to_string(model.shape.n_vocab) + ", found " +
                       std::to_string(id));
    }
  }
  const std::size_t before = past.state ? past.state->length + 1 : 0;
  const std::size_t total = before + plan.prompt.size() + plan.generate;
  if (total > model.shape.n_positions) {
    throw InputError("--prompt and --generate: expected at most " + std::to_string(model.shape.n_positions) +
                     " tokens together, found " + std::to_string(total) +
                     (past.state ? " with the " + std::to_string(before) + " of --continue" : ""));
  }
  return plan;
}

/// The machine that each rank runs on. Collective.
std::vector<std::string> hosts_of(Communicator& comm) {
  std::array<char, 65> name{};
  (void)::gethostname(name.data(), name.size() - 1);
  std::vector<std::string> hosts;
  const std::vector<char> all = comm.all_gather<char>(name);
  for (std::size_t first = 0; first < all.size(); first += name.size()) {
    hosts.emplace_back(all.data() + first);
  }
  return hosts;
}

}  // namespace

void run(const ProveCommand& options, Context& context) {
  CountingCommunicator comm(context.comm);
  keep_freed_heap();
  context.progress.begin("reading model and commitment");
  Model model = load_model(options.model, comm.rank(), comm.size());
  const CommittedModel committed = open_commitment(options.model, model, options.commitment, comm);
  const VerifyingKey& key = committed.key;
  if (committed.hiding) {
    keep_process_private();
    if (!options.keep.empty() || !options.start.empty()) {
      throw InputError("--keep, --continue: expected none of them, because the key of " + options.commitment +
                       " is hiding: states of hiding proofs are not supported");
    }
    if (!options.checkpoint.empty()) {  // what a phase made must never be made twice from one seed, nor be kept
      throw InputError("--checkpoint: expected none, because the key of " + options.commitment + " is hiding");
    }
  }
  if (comm.rank() == 0) {
    (void)WriteFile(options.out, proof_format);  // an unwritable target is better found now
  }
  std::optional<StagedDirectory> directory;  // an unwritable one, too
  if (!options.keep.empty()) {
    std::error_code none;
    if (!options.start.empty() && std::filesystem::equivalent(options.keep, options.start, none)) {
      throw InputError("--keep: expected another directory than --continue, found " + options.keep);
    }
    directory.emplace(options.keep, comm);
  }
  const Past past = load_state(options.start, key, ModelPlan::state_shapes(key.shape), comm);
  const JobPlan plan = make_plan(options, model, past, comm);
  ProvenPart part = prove_model(std::move(model), key, *committed.codeword, committed.hiding.get(), plan, past, comm,
                                context.progress);
  ProofArchive& proof = part.archive;
  proof.key_digest = key.digest();
  std::vector<std::uint32_t> ids = proof.statement.prompt;
  ids.insert(ids.end(), proof.statement.generated.begin(), proof.statement.generated.end());
  proof.text = decode(key.tokenizer, ids);
  if (!committed.hiding) {  // else it says nothing of the operator's machines
    proof.configuration = context.configuration;
    proof.machine.ranks = static_cast<std::uint32_t>(comm.size());
    proof.hosts = hosts_of(comm);
    proof.machine.threads = static_cast<std::uint32_t>(context.threads);
  }
  context.progress.finish();
  if (directory) {
    save_state(directory->path(), proof.key_digest, part.kept, comm);
  }
  if (comm.rank() == 0) {
    save_proof(options.out, proof);
    if (committed.hiding) {
      make_public(options.out);
    }
    std::printf("%s\n\n%s: proof of %zu bytes, %zu + %zu tokens, %.1f bits round by round, %.1f all together\n",
                printable(proof.text).c_str(), one_line(options.out).c_str(), proof.payload.size(),
                proof.statement.prompt.size(), proof.statement.generated.size(), proof.soundness.round_by_round_bits(),
                proof.soundness.union_bits());
  }
  if (committed.hiding && !plan.scratch.empty()) {
    wipe_file(trace_path(plan.scratch, comm));
  }
  if (directory) {
    directory->commit(state_manifest, state_rows_prefix);  // after the proof that names it
  }
  if (comm.rank() == 0 && !options.checkpoint.empty()) {
    CheckpointDirectory::clear(options.checkpoint);
  }
}

}  // namespace tessera::cli
