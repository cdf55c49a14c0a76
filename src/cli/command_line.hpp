#pragma once

#include "cluster/mpi_communicator.hpp"

namespace tessera {
class JobFollower;  // api/proving.hpp
}

namespace tessera::cli {

/// Runs the subcommand that tessera was called with, on all ranks. Returns an exit code; throws what cli::describe
/// (exit_code.hpp) tells apart. `watcher`: see Context.
int run(int argc, char** argv, MpiSession& session, JobFollower* watcher = nullptr);

}  // namespace tessera::cli
