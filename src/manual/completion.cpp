#include <algorithm>
#include <sstream>

#include "cli/argument_kind.hpp"
#include "manual/pages.hpp"
#include "manual/tables.hpp"

namespace tessera::manual {
namespace {

using Words = std::vector<std::string>;

std::string joined(const Words& words, const std::string& separator) {
  std::string line;
  for (const std::string& word : words) {
    line += (line.empty() ? "" : separator) + word;
  }
  return line;
}

/// How the script completes an argument: one of the functions of `driver`; `:` for text that nobody can guess.
std::string completion_of(const CLI::Option& option) {
  if (const Words choices = choices_of(option); !choices.empty()) {
    return "@_words '" + joined(choices, " ") + "' \"$current\"";
  }
  const std::string type = type_of(option);
  if (type == cli::directory_argument) {
    return "@_paths -d \"$current\"";
  }
  return type == cli::file_argument || type == cli::path_argument ? "@_paths -f \"$current\"" : ":";
}

/// The program itself has no name: the words before an option are none, or a subcommand.
std::vector<std::pair<std::string, const CLI::App*>> commands_of(const CLI::App& program) {
  std::vector<std::pair<std::string, const CLI::App*>> commands{{"", &program}};
  for (const CLI::App* const command : subcommands_of(program)) {
    commands.emplace_back(command->get_name(), command);
  }
  return commands;
}

Words subcommand_names(const CLI::App& command) {
  Words names;
  for (const CLI::App* const subcommand : subcommands_of(command)) {
    names.push_back(subcommand->get_name());
  }
  return names;
}

/// @_argument COMMAND OPTION: completes what follows the option; fails where nothing does.
void write_arguments(std::ostream& script, const CLI::App& program) {
  script << "@_argument()\n{\n  case \"$1 $2\" in\n";
  for (const auto& [name, command] : commands_of(program)) {
    for (const CLI::Option* const option : options_of(*command)) {
      if (!is_positional(*option) && takes_argument(*option)) {
        Words patterns;
        for (const std::string& spelled : names_of(*option)) {
          patterns.push_back("'" + name + " " + spelled + "'");
        }
        script << "    " << joined(patterns, " | ") << ") " << completion_of(*option) << " ;;\n";
      }
    }
  }
  script << "    *) return 1 ;;\n  esac\n}\n\n";
}

/// @_options COMMAND: completes an option's name.
void write_options(std::ostream& script, const CLI::App& program) {
  script << "@_options()\n{\n  case $1 in\n";
  for (const auto& [name, command] : commands_of(program)) {
    Words names;
    for (const CLI::Option* const option : options_of(*command)) {
      std::ranges::copy(names_of(*option), std::back_inserter(names));
    }
    for (const CLI::Option* const option : options_of(program)) {  // what falls through to it
      if (command != &program && command->get_fallthrough() && takes_argument(*option)) {
        std::ranges::copy(names_of(*option), std::back_inserter(names));
      }
    }
    script << "    '" << name << "') @_words '" << joined(names, " ") << "' \"$current\" ;;\n";
  }
  script << "  esac\n}\n\n";
}

/// @_others COMMAND: completes what is neither an option nor its argument.
void write_others(std::ostream& script, const CLI::App& program) {
  script << "@_others()\n{\n  case $1 in\n";
  for (const auto& [name, command] : commands_of(program)) {
    std::string action = ":";
    if (const Words names = subcommand_names(*command); !names.empty()) {
      action = "@_words '" + joined(names, " ") + "' \"$current\"";
    }
    for (const CLI::Option* const option : options_of(*command)) {
      action = is_positional(*option) ? completion_of(*option) : action;
    }
    script << "    '" << name << "') " << action << " ;;\n";
  }
  script << "  esac\n}\n\n";
}

// bash takes `=` as a word of its own: --option=value are three.
constexpr const char* driver = R"(@_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2"); }

@_paths()
{
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$2")
}

@()
{
  local current=${COMP_WORDS[COMP_CWORD]} command='' option i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ " $subcommands " == *" ${COMP_WORDS[i]} "* ]] && ! @_argument '' "${COMP_WORDS[i - 1]}"; then
      command=${COMP_WORDS[i]}
      break
    fi
  done
  COMPREPLY=()
  option=${COMP_WORDS[COMP_CWORD - 1]}
  if [[ $current == = ]]; then
    current=''
  elif [[ $option == = ]] && ((COMP_CWORD > 1)); then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if [[ $option == -* ]] && { @_argument "$command" "$option" || @_argument '' "$option"; }; then
    return
  elif [[ $current == -* ]]; then
    @_options "$command"
  else
    @_others "$command"
  fi
}

complete -F @ )";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

}  // namespace

std::string bash_completion(const CLI::App& program) {
  std::string function = "_" + program.get_name();
  std::ranges::replace(function, '-', '_');
  std::ostringstream script;
  write_arguments(script, program);
  write_options(script, program);
  write_others(script, program);
  script << replaced(driver, "$subcommands", joined(subcommand_names(program), " ")) << program.get_name() << '\n';
  return "# bash completion for " + program.get_name() + ", made from its options\n\n" +
         replaced(script.str(), "@", function);
}

}  // namespace tessera::manual
