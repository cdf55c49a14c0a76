#include "cli/program.hpp"

#include <chrono>
#include <iostream>
#include <thread>

#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/interruption.hpp"
#include "cli/rank_measures.hpp"
#include "cli/waiting.hpp"
#include "cluster/mpi_communicator.hpp"

namespace tessera::cli {
namespace {

/// Reports an error once and ends the other ranks, which may wait for this one.
[[noreturn]] void end_all(MpiSession& session, const Failure& failure) {
  using namespace std::chrono_literals;
  MpiCommunicator& world = session.world();
  const int rank = world.rank();
  if (rank == 0) {
    std::cerr << "tessera: " + failure.message + "\n" << std::flush;
    static_cast<void>(world.all_meet(300ms));  // tells ranks that fail alike that it has spoken for them
    session.abort(after_output("tessera", failure.code));
  }
  if (world.all_meet(1s)) {
    std::this_thread::sleep_for(30s);  // for rank 0 to end this one
  }
  std::cerr << "tessera: rank " + std::to_string(rank) + " on " + host_name() + ": " + failure.message + "\n"
            << std::flush;
  session.abort(failure.code);
}

}  // namespace

int run_program(int argc, char** argv, JobFollower* watcher) {
  let_waiting_threads_sleep(argv);
  occupy_standard_streams();
  ignore_write_signals();
  MpiSession session(argc, argv);
  end_cleanly_on_signals(session.world().size() == 1);  // of several, the one that fails speaks
  int code = done;
  try {
    code = run(argc, argv, session, watcher);
  } catch (...) {
    const Failure failure = describe(std::current_exception());
    if (session.world().size() > 1) {
      end_all(session, failure);
    }
    std::cout.flush();
    std::cerr << "tessera: " + failure.message + "\n" << std::flush;
    code = failure.code;
  }
  return after_output("tessera", code);
}

}  // namespace tessera::cli
