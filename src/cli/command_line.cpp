#include "cli/command_line.hpp"

#include <omp.h>
#include <sched.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <map>
#include <thread>

#include "arithmetic/instructions.hpp"
#include "cli/check_paths.hpp"
#include "cli/configuration.hpp"
#include "cli/exit_code.hpp"
#include "cli/options.hpp"
#include "cli/usage_error.hpp"
#include "cluster/agreement.hpp"

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

}  // namespace

int run(int argc, char** argv, MpiSession& session, JobFollower* watcher) {
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
  Context context{comm,           progress,
                  threads,        resolved_configuration(*program.get_subcommands().front(), threads),
                  common.threads, watcher};
  for_each_command(options, [&](const char* name, const char* /*text*/, Ranks ranks, const auto& command) {
    if (program.got_subcommand(name) && (ranks == Ranks::all || comm.rank() == 0)) {
      run(command, context);
    }
  });
  comm.barrier();  // no rank leaves before rank 0 has written everything
  return done;
}

}  // namespace tessera::cli
