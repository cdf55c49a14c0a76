#pragma once

#include <functional>
#include <string>

#include "cli/cli11.hpp"

namespace tessera::manual {

/// A manual page (man(7)) of a program, or of one of its subcommands; `program` is what it belongs to.
std::string man_page(const CLI::App& program, const CLI::App& command, const std::string& release);

/// A bash script that completes subcommands, options, choices, and paths where an option's type is one of
/// cli/argument_kind.hpp.
std::string bash_completion(const CLI::App& program);

/// A program that writes DIRECTORY/man1/*.1 and DIRECTORY/completions/<program>, DIRECTORY being its only argument.
/// Returns the exit code: 0, or 2 if that is wrong or cannot be written.
int write_pages(int argc, char** argv, const std::function<void(CLI::App&)>& declare);

}  // namespace tessera::manual
