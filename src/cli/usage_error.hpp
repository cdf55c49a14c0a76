#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/cli11.hpp"

namespace tessera::cli {

/// "; the nearest is NAME", if one of `names` is what a person may have meant by `name`; else nothing.
std::string nearest(std::string_view name, const std::vector<std::string>& names);

/// What options of a command, or commands of a program, are called: long names.
std::vector<std::string> option_names(const CLI::App& app);

/// What is wrong with a command line, in the form of all errors: "tessera: --widht: expected an option of import, found
/// none of that name; the nearest is --width", and where help is. For CLI::App::failure_message().
std::string usage_error(const CLI::App* app, const CLI::Error& error);

}  // namespace tessera::cli
