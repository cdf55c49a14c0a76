#include <omp.h>
#include <sched.h>

#include <chrono>
#include <iostream>
#include "cluster/mpi_communicator.hpp"
#include <thread>

#include "cli/command.hpp"
#include "cli/exit_code.hpp"

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

void add_common(CLI::App& app, CommonOptions& common) {
  app.add_option("--threads", common.threads,
                 "threads of each rank (default: the machine's cores, shared by its ranks)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--log", common.log, "file for progress lines (default: standard error)");
  app.add_flag("--quiet", common.quiet, "no progress lines");
  app.footer("Options may also stand in a table [" + app.get_name() + "] of a file given by --config FILE.toml.");
  app.fallthrough();  // --config belongs to the program
}

int run(int argc, char** argv, MpiSession& session) {
  Communicator& comm = session.world();
  CommonOptions common;
  CLI::App program("Prove that a committed GPT-2-style model generated a text.", "tessera");
  program.set_config("--config", "", "TOML file with options, one table a subcommand");
  program.config_formatter(toml_config());
  program.allow_config_extras(CLI::config_extras_mode::error);
  program.require_subcommand(1);
  const Command commands[] = {add_import(program),  add_evaluate(program), add_commit(program),    add_prove(program),
                              add_inspect(program), add_describe(program), add_synthesize(program)};
  for (const Command& command : commands) {
    add_common(*command.app, common);
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = comm.rank() == 0 ? program.exit(error) : error.get_exit_code();
    return code == 0 ? done : unusable;
  }
  const int threads = common.threads > 0 ? common.threads : default_threads(session.ranks_on_node());
  omp_set_num_threads(threads);
  Progress progress(comm.rank() == 0 && !common.quiet, common.log);
  for (const Command& command : commands) {
    if (command.app->parsed()) {
      Context context{comm, progress, threads, resolved_configuration(*command.app, threads)};
      command.run(context);
      comm.barrier();  // no rank leaves before rank 0 has written everything
    }
  }
  std::cout.flush();
  return done;
}

/// Reports an error once and ends the other ranks, which may wait for this one.
[[noreturn]] void end_all(MpiSession& session, const Failure& failure) {
  const int rank = session.world().rank();
  if (rank != 0) {
    // mostly all ranks fail alike: rank 0 speaks for them, and ends them, before they do
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  const std::string prefix = rank == 0 ? "tessera: " : "tessera: rank " + std::to_string(rank) + ": ";
  std::cerr << prefix + failure.message + "\n" << std::flush;
  session.abort(failure.code);
}

}  // namespace
}  // namespace tessera::cli

int main(int argc, char** argv) {
  using namespace tessera::cli;
  ignore_write_signals();
  tessera::MpiSession session(argc, argv);
  try {
    return run(argc, argv, session);
  } catch (...) {
    const Failure failure = describe(std::current_exception());
    if (session.world().size() > 1) {
      end_all(session, failure);
    }
    std::cerr << "tessera: " << failure.message << '\n';
    return failure.code;
  }
}
