#pragma once

#include "cli/command.hpp"
#include "api/prover_model.hpp"

namespace tessera::cli {

/// Answers requests of standard input until it ends, one after another: JSON objects, a line each. First comes a line
/// about the model; then, of each request, a line for every token and one with all of the answer, or with an error.
/// Fields are in src/guide/chat.md. Collective; rank 0 reads and writes.
void answer_requests(ProverModel& loaded, const std::string& file, Communicator& comm);

}  // namespace tessera::cli
