#include "manual/tables.hpp"

#include <algorithm>

namespace tessera::manual {
namespace {

/// What checks say: CLI11 appends it to the type's name.
std::string checks_of(const CLI::Option& option) {
  const std::string name = option.get_type_name();
  const std::size_t colon = name.find(':');
  return colon == std::string::npos ? "" : name.substr(colon + 1);
}

/// Between the first `open` and the last `close`; empty if they are not there.
std::string between(const std::string& text, const std::string& open, char close) {
  const std::size_t begin = text.find(open);
  const std::size_t end = text.rfind(close);
  return begin == std::string::npos || end == std::string::npos || end < begin + open.size()
             ? ""
             : text.substr(begin + open.size(), end - begin - open.size());
}

std::vector<const CLI::App*> all_below(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* /*any*/) { return true; });
}

}  // namespace

std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  std::vector<const CLI::Option*> options = command.get_options();
  for (const CLI::App* const group : all_below(command)) {
    if (group->get_name().empty()) {
      std::ranges::copy_if(options_of(*group), std::back_inserter(options),
                           [&](const CLI::Option* option) { return option != group->get_help_ptr(); });
    }
  }
  return options;
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& command) {
  std::vector<const CLI::App*> commands = all_below(command);
  std::erase_if(commands, [](const CLI::App* app) { return app->get_name().empty(); });
  return commands;
}

std::string full_name(const CLI::App& program, const CLI::App& command, const std::string& separator) {
  return &program == &command ? program.get_name() : program.get_name() + separator + command.get_name();
}

bool is_positional(const CLI::Option& option) { return option.get_positional(); }

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) {
    names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    names.push_back("--" + name);
  }
  return names;
}

bool takes_argument(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::string type_of(const CLI::Option& option) {
  const std::string name = option.get_type_name();
  return name.substr(0, name.find(':'));
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string choices = between(checks_of(option), "{", '}');
  return choices.empty() ? std::vector<std::string>{} : CLI::detail::split(choices, ',');
}

std::string range_of(const CLI::Option& option) { return between(checks_of(option), " in [", ']'); }

std::string without_stop(std::string sentence) {
  if (sentence.ends_with('.')) {
    sentence.pop_back();
  }
  return sentence;
}

}  // namespace tessera::manual
