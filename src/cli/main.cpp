#include <omp.h>
#include <sched.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <thread>

#include "arithmetic/instructions.hpp"
#include "cli/check_paths.hpp"
#include "cli/configuration.hpp"
#include "cli/exit_code.hpp"
#include "cli/interruption.hpp"
#include "cli/options.hpp"
#include "cli/rank_measures.hpp"
#include "cli/usage_error.hpp"
#include "cli/waiting.hpp"
#include "cluster/agreement.hpp"
#include "cluster/mpi_communicator.hpp"

namespace tessera::cli {
namespace {

/// The cores that this process may use, shared among the ranks of the machine unless the launcher has bound each to its
/// own.
int default_threads(int ranks_on_node) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof(cores), &cores);
  const int allowed = CPU_COUNT(&cores);
  const bool bound = allowed < static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, bound ? allowed : allowed / ranks_on_node);
}

ProgressStyle progress_style(const std::string& name) {
  static const std::map<std::string, ProgressStyle> styles{{"", ProgressStyle::automatic},
                                                           {"none", ProgressStyle::none},
                                                           {"plain", ProgressStyle::plain},
                                                           {"bar", ProgressStyle::bar},
                                                           {"json", ProgressStyle::json}};
  return styles.at(name);
}

int run(int argc, char** argv, MpiSession& session) {
  MpiCommunicator& comm = session.world();
  Options options;
  CLI::App program;
  declare(program, options);
  program.config_formatter(toml_config(program));
  program.failure_message(usage_error);
  program.allow_config_extras(CLI::config_extras_mode::error);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = comm.rank() == 0 ? program.exit(error) : error.get_exit_code();
    return code == 0 ? done : unusable;
  }
  if (const char* const widest = std::getenv("TESSERA_INSTRUCTIONS")) {
    limit_instructions(widest);
  }
  const CommonOptions& common = options.common;
  const int threads = common.threads > 0 ? common.threads : default_threads(session.ranks_on_node());
  omp_set_num_threads(threads);
  fail_together(comm, [&] {
    if (comm.rank() == 0) {
      check_paths(options.paths);
      keep_standard_input(options.paths);
    }
  });
  Progress progress(comm.rank() == 0 && !common.quiet, progress_style(common.progress), common.log);
  Context context{comm, progress, threads, resolved_configuration(*program.get_subcommands().front(), threads),
                  common.threads};
  for_each_command(options, [&](const char* name, const char* /*text*/, Ranks ranks, const auto& command) {
    if (program.got_subcommand(name) && (ranks == Ranks::all || comm.rank() == 0)) {
      run(command, context);
    }
  });
  comm.barrier();  // no rank leaves before rank 0 has written everything
  return done;
}

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
}  // namespace tessera::cli

int main(int argc, char** argv) {
  using namespace tessera::cli;
  let_waiting_threads_sleep(argv);
  occupy_standard_streams();
  ignore_write_signals();
  tessera::MpiSession session(argc, argv);
  end_cleanly_on_signals(session.world().size() == 1);  // of several, the one that fails speaks
  int code = done;
  try {
    code = run(argc, argv, session);
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
