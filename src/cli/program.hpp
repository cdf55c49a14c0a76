#pragma once

namespace tessera {
class JobFollower;  // api/proving.hpp
}

namespace tessera::cli {

/// The program tessera, from its arguments to its exit code. `watcher`: of its proving jobs, see Context.
int run_program(int argc, char** argv, JobFollower* watcher = nullptr);

}  // namespace tessera::cli
