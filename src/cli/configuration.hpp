#pragma once

#include <memory>
#include <string>

#include "cli/cli11.hpp"

namespace tessera::cli {

/// Reads --config files: TOML, one table a subcommand, keys = long option names. Throws InputError that names file,
/// line and what is expected there. `program`: of which it becomes the formatter.
std::shared_ptr<CLI::Config> toml_config(CLI::App& program);
/// All options of `command` as resolved from command line, file and defaults, a JSON object. An option that was not
/// given and has no default is left out; `threads`: as resolved for this machine. With what the environment says of
/// waiting threads.
std::string resolved_configuration(const CLI::App& command, int threads);

}  // namespace tessera::cli
