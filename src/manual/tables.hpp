#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tessera::manual {

/// Options of a command, also those of its groups, as they were declared.
std::vector<const CLI::Option*> options_of(const CLI::App& command);
/// Subcommands, without the groups of options that CLI11 counts among them.
std::vector<const CLI::App*> subcommands_of(const CLI::App& command);
/// "tessera", or "tessera prove" with the separator between.
std::string full_name(const CLI::App& program, const CLI::App& command, const std::string& separator);

bool is_positional(const CLI::Option& option);
/// "--key", "-h": short ones first.
std::vector<std::string> names_of(const CLI::Option& option);
bool takes_argument(const CLI::Option& option);
/// "FILE", "TEXT", without what checks say.
std::string type_of(const CLI::Option& option);
/// What a CLI::IsMember allows; empty if there is none.
std::vector<std::string> choices_of(const CLI::Option& option);
/// What another check says: "2 - 4096"; empty if there is none.
std::string range_of(const CLI::Option& option);

std::string without_stop(std::string sentence);

}  // namespace tessera::manual
