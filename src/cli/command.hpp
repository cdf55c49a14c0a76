#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include "cluster/communicator.hpp"

#include "cli/progress.hpp"

namespace tessera::cli {

/// What a subcommand runs with.
struct Context {
  Communicator& comm;
  Progress& progress;
  int threads = 1;
  std::string configuration;  // all options as resolved, a JSON object
};

/// Options of every subcommand.
struct CommonOptions {
  int threads = 0;  // 0: the cores of this machine, shared among its ranks
  std::string log;
  bool quiet = false;
};

struct Command {
  CLI::App* app = nullptr;
  std::function<void(Context&)> run;
};

// One a file; each declares its options and says what it does with them.
Command add_import(CLI::App& program);
Command add_evaluate(CLI::App& program);
Command add_commit(CLI::App& program);
Command add_prove(CLI::App& program);
Command add_inspect(CLI::App& program);
Command add_describe(CLI::App& program);
Command add_synthesize(CLI::App& program);

/// Reads --config files: TOML, one table a subcommand, keys = long option names.
std::shared_ptr<CLI::Config> toml_config();
/// All options of `command` as resolved from command line, file and defaults, a JSON object. An option that was not
/// given and has no default is left out; `threads`: as resolved for this machine.
std::string resolved_configuration(const CLI::App& command, int threads);
/// Reads a whole text file; throws InputError.
std::string read_text_file(const std::string& path);

}  // namespace tessera::cli
