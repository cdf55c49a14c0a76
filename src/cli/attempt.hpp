#pragma once

#include <exception>

#include "archive/hiding_uses.hpp"
#include "cli/command.hpp"
#include "cli/pipeline.hpp"

namespace tessera::cli {

/// One try at the proof that `prove` is asked for.
struct Attempt {
  ProvenPart part;                // if nothing failed
  std::string failure;            // why there is no good proof, as the rank that checks has it; empty: accepted
  std::exception_ptr error = {};  // on all ranks: what ended the attempt early
  ContributionRecord record;      // of this rank
  bool hiding = false;            // the key is
  CountedKey key = {};            // whose uses are counted, if it is
};

/// Throws InputError unless there are ids, they are the vocabulary's, and the context has room for them, the `before`
/// that came earlier and `generate` more.
void check_prompt(std::span<const std::uint32_t> ids, std::size_t before, std::size_t generate,
                  const ModelShape& shape);

/// Reads what the options name, generates, proves, and checks on the one rank that `checks`. `ranks`: those that take
/// part, by whose numbers the work is shared. `model`: the one that the options name, if it is at hand with those
/// numbers. Collective among them.
Attempt attempt_proof(const ProveCommand& options, Context& context, MpiCommunicator& ranks, bool checks,
                      ProverModel* model = nullptr);

/// An attempt that has succeeded after one that failed, and its ranks.
struct Retrial {
  Attempt attempt;                         // on ranks that took part
  std::unique_ptr<MpiCommunicator> ranks;  // null on others
  int writer = 0;                          // rank of the whole job that has checked the proof
};

/// After an attempt that failed: proves again, each rank doing another's share, and tells from both records which rank
/// computed wrongly; if it still does, proves without it. Says on rank 0 who it was. Throws JobError on all ranks if no
/// proof is good. Collective.
Retrial prove_again(const ProveCommand& options, Context& context, Attempt failed);

}  // namespace tessera::cli
