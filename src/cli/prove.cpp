#include <cstdio>
#include <iostream>

#include <tessera/sampling.hpp>

#include "archive/checkpoint_file.hpp"
#include "archive/hdf5.hpp"
#include "archive/hiding_files.hpp"
#include "archive/hiding_uses.hpp"
#include "archive/staged_directory.hpp"
#include "archive/state_file.hpp"
#include "base/heap.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/prove_each.hpp"
#include "cli/prove_one.hpp"
#include "cluster/serialization.hpp"
#include "files/private_file.hpp"
#include "transcript/shown_bits.hpp"

namespace tessera::cli {
namespace {

/// Writes the proof and says so, with its text if that is wanted.
void publish(const std::string& file, const ProofArchive& proof, bool hiding, bool with_text) {
  save_proof(file, proof);
  if (hiding) {
    make_public(file);
  }
  if (with_text) {
    std::printf("%s\n\n", printable(proof.text).c_str());
  }
  std::printf("%s: proof of %zu bytes, %zu + %zu tokens, %.1f bits round by round, %.1f all together\n",
              one_line(file).c_str(), proof.payload.size(), proof.statement.prompt.size(),
              proof.statement.generated.size(), shown_bits(proof.soundness.round_by_round_bits()),
              shown_bits(proof.soundness.union_bits()));
  if (const auto& sampling = proof.statement.sampling) {
    std::printf("sampled: %s, seed %s\n", sampling_text(*sampling).c_str(), to_hex(sampling->seed).c_str());
  }
  std::fflush(stdout);
}

/// While the key can still be renewed, which takes one of its proofs.
void warn_of_last_uses(const std::string& commitment, const CountedKey& key) {
  constexpr std::uint64_t few = 2;
  const std::uint64_t left = load_uses(commitment, key).left();
  if (left <= few) {
    std::cerr << "tessera: warning: " + one_line(commitment) + ": " + counted(left, "proof") + " left under this key" +
                     (left == 0 ? ", which cannot be renewed any more: make a commitment with a new secret and publish "
                                  "its key"
                      : left == 1 ? ": the one that tessera renew takes"
                                  : ", of which tessera renew takes one") +
                     "\n"
              << std::flush;
  }
}

/// Where a state is kept, if it is.
std::unique_ptr<StagedDirectory> staged_state(const ProveCommand& options, Communicator& comm) {
  std::unique_ptr<StagedDirectory> directory;
  if (!options.keep.empty()) {
    directory = std::make_unique<StagedDirectory>(options.keep, comm);
  }
  return directory;
}

Retrial prove_one_again(const ProveCommand& options, Context& context, Attempt failed, bool of_many) {
  try {
    return prove_again(options, context, std::move(failed));
  } catch (const JobError& error) {
    if (of_many) {
      throw NotProven(error.what());
    }
    throw;
  }
}

}  // namespace

void prove_one(const ProveCommand& options, Context& context, ProverModel* one_of_many) {
  MpiCommunicator& comm = context.comm;
  if (comm.rank() == 0) {
    (void)WriteFile(options.out, proof_format);  // an unwritable target is better found now
  }
  const std::unique_ptr<StagedDirectory> directory = staged_state(options, comm);  // an unwritable one, too
  Attempt attempt = attempt_proof(options, context, comm, comm.rank() == 0, one_of_many);
  broadcast_object(comm, attempt.failure);
  Retrial again{{}, nullptr, 0};
  Communicator* ranks = &comm;
  if (!attempt.failure.empty()) {
    again = prove_one_again(options, context, std::move(attempt), one_of_many != nullptr);
    attempt = std::move(again.attempt);
    ranks = again.ranks.get();
  }
  context.progress.finish();
  if (directory && ranks != nullptr) {
    save_state(directory->path(), attempt.part.archive.key_digest, attempt.part.kept, *ranks);
  }
  if (comm.rank() == again.writer) {
    publish(options.out, attempt.part.archive, attempt.hiding, one_of_many == nullptr);
    if (attempt.hiding) {
      warn_of_last_uses(options.commitment, attempt.key);
    }
  }
  if (attempt.hiding && !options.scratch.empty()) {
    wipe_file(trace_path(options.scratch, comm));
  }
  if (directory) {
    directory->commit(state_manifest, state_rows_prefix);  // after the proof that names it
  }
  if (comm.rank() == 0 && !options.checkpoint.empty()) {
    CheckpointDirectory::clear(options.checkpoint);
  }
}

namespace {

/// A job that goes on with what an earlier one has left, and proofs of many prompts, need one seed for all of it.
void require_seed(const ProveCommand& options) {
  const bool several = !options.scratch.empty() || !options.checkpoint.empty() || !prompts_file(options).empty();
  if (several && options.sampling.samples() && options.sampling.seed.empty()) {
    throw InputError(
        "--seed: expected one with --temperature and --scratch, --checkpoint, --prompts or --prompt-ids, found none");
  }
}

}  // namespace

void run(const ProveCommand& given, Context& context) {
  keep_freed_heap();
  require_seed(given);
  ProveCommand options = given;
  if (draw_seed(options.sampling, context.comm) && context.comm.rank() == 0) {
    std::printf("seed %s\n", options.sampling.seed.c_str());
    std::fflush(stdout);
  }
  if (prompts_file(options).empty()) {
    prove_one(options, context);
  } else {
    prove_each(options, context);
  }
}

}  // namespace tessera::cli
