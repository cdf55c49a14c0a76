#include "cli/usage_error.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>

#include "base/text.hpp"

namespace tessera::cli {
namespace {

/// Letters that are put in, left out or replaced (Levenshtein).
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t before = row[0]++;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = before + (from[i] == to[j] ? 0 : 1);
      before = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::vector<std::string> command_names(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* const command :
       program.get_subcommands([](const CLI::App* app) { return !app->get_name().empty(); })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::string no_command(const CLI::App& program, const std::string& word) {
  if (word.empty()) {
    return "expected a command, found none";
  }
  const std::string start = quoted_name(word) + ": expected a command, found none of that name";
  return word == "verify" ? start + "; proofs are verified by the program tessera-verify"
                          : start + nearest(word, command_names(program));
}

/// The command that was called, which takes the program's options, too; the program if there was none.
const CLI::App& called(const CLI::App& program) {
  const std::vector<CLI::App*> commands = program.get_subcommands();
  return commands.empty() ? program : *commands.front();
}

std::string message_of(const CLI::App& program, const CLI::Error& error) {
  const std::vector<std::string> extra = program.remaining(true);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && program.get_subcommands().empty() &&
      !command_names(program).empty()) {
    return no_command(program, extra.empty() ? std::string() : extra.front());
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !extra.empty()) {
    const CLI::App& command = called(program);
    const bool option = extra.front().starts_with('-');
    return quoted_name(extra.front()) + ": expected an " + (option ? "option" : "argument") + " of " +
           command.get_name() + ", found " +
           (option ? "none of that name" + nearest(extra.front(), option_names(command)) : "one too many");
  }
  return one_line(error.what());
}

}  // namespace

std::string nearest(std::string_view name, const std::vector<std::string>& names) {
  constexpr std::size_t most = 3;
  std::string best;
  std::size_t least = std::min(most, name.size() / 2) + 1;
  for (const std::string& candidate : names) {
    if (const std::size_t found = distance(name, candidate); found < least) {
      least = found;
      best = candidate;
    }
  }
  return best.empty() ? best : "; the nearest is " + best;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  for (const CLI::App* const group : app.get_subcommands([](const CLI::App* sub) { return sub->get_name().empty(); })) {
    const std::vector<std::string> inner = option_names(*group);
    names.insert(names.end(), inner.begin(), inner.end());
  }
  return names;
}

std::string usage_error(const CLI::App* app, const CLI::Error& error) {
  const CLI::App* program = app;
  while (program->get_parent() != nullptr) {
    program = program->get_parent();
  }
  return program->get_name() + ": " + message_of(*program, error) + "\nRun with --help for more information.\n";
}

}  // namespace tessera::cli
