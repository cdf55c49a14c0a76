#pragma once

#include "cli/attempt.hpp"

namespace tessera::cli {

/// There is no good proof of one prompt of many; thrown on all ranks, which can go on with the next one.
class NotProven : public JobError {
 public:
  using JobError::JobError;
};

/// Proves one statement, writes the proof and says so. `one_of_many`: the model of all of them; then it throws
/// NotProven for a prompt that cannot be proven. Collective.
void prove_one(const ProveCommand& options, Context& context, ProverModel* one_of_many = nullptr);

}  // namespace tessera::cli
