#pragma once

#include "cli/command.hpp"

namespace tessera::cli {

/// Proves the prompts of a file, each on its own: line n into <n in six digits>.h5 of the directory that is the output.
/// The model is read once and memory is kept. Proofs that are there already are kept if they are of this key, prompt
/// and length; other files there, and unusable lines, are InputError before anything is proven. A prompt that cannot be
/// proven does not stop the others: JobError in the end. Collective.
void prove_each(const ProveCommand& options, Context& context);

}  // namespace tessera::cli
