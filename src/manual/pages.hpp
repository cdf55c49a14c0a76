#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tessera::manual {

/// A manual page (man(7)) of a program, or of one of its subcommands; `program` is what it belongs to.
std::string man_page(const CLI::App& program, const CLI::App& command, const std::string& release);

/// A bash script that completes subcommands, options, choices, and paths where an option's type is one of
/// cli/argument_kind.hpp.
std::string bash_completion(const CLI::App& program);

/// Writes DIRECTORY/man1/*.1 and DIRECTORY/completions/<program>. Throws std::runtime_error.
void write_pages(const CLI::App& program, const std::string& directory);

}  // namespace tessera::manual
