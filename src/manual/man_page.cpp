#include <algorithm>
#include <sstream>

#include "manual/pages.hpp"
#include "manual/tables.hpp"

namespace tessera::manual {
namespace {

/// Text that troff takes as it is.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) {
      result += "\\&";
    }
    result += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return result;
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + escaped(text) + "\\fR"; }

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string argument(const CLI::Option& option) {
  const std::vector<std::string> choices = choices_of(option);
  if (choices.empty()) {
    return italic(type_of(option));
  }
  std::string joined;
  for (const std::string& choice : choices) {
    joined += (joined.empty() ? "" : "|") + bold(choice);
  }
  return joined;
}

std::string spelled(const CLI::Option& option) {
  if (is_positional(option)) {
    return italic(option.get_name());
  }
  std::string names;
  for (const std::string& name : names_of(option)) {
    names += (names.empty() ? "" : ", ") + bold(name);
  }
  return takes_argument(option) ? names + " " + argument(option) : names;
}

/// Options that have to be given, a word for the others, then what has no name.
std::string synopsis(const CLI::App& program, const CLI::App& command) {
  std::string line = bold(full_name(program, command, " "));
  std::string positional;
  for (const CLI::Option* const option : options_of(command)) {
    if (is_positional(*option)) {
      positional += " " + spelled(*option) + (option->get_items_expected_max() > 1 ? " ..." : "");
    } else if (option->get_required()) {
      line += " " + bold(names_of(*option).front()) + " " + argument(*option);
    }
  }
  line += " [" + italic("options") + "]" + positional;
  return command.get_require_subcommand_min() > 0 ? line + " " + italic("subcommand") + " ..." : line;
}

/// Lines that are indented stay as they are, others are filled.
std::string paragraphs(const std::string& text) {
  std::istringstream lines(text);
  std::ostringstream page;
  bool literal = false;
  bool gap = false;  // the next paragraph begins a new one
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) {
      gap = true;
      continue;
    }
    const bool indented = line.starts_with("  ");
    if (indented != literal) {
      page << (indented ? ".PP\n.nf\n" : ".fi\n.PP\n");
    } else if (gap) {
      page << ".PP\n";
    }
    gap = false;
    literal = indented;
    page << escaped(line) << '\n';
  }
  page << (literal ? ".fi\n" : "");
  return page.str();
}

std::string described(const CLI::Option& option) {
  std::string text = option.get_description();
  if (const std::string range = range_of(option); !range.empty()) {
    text += " [" + range + "]";
  }
  if (const std::string value = option.get_default_str(); !value.empty()) {
    text += " (default: " + value + ")";
  }
  return text + (option.get_required() ? " (required)" : "");
}

std::string see_also(const CLI::App& program, const CLI::App& command) {
  std::string pages;
  const auto add = [&](const std::string& name) { pages += (pages.empty() ? "" : ",\n") + bold(name) + "(1)"; };
  if (&program != &command) {
    add(program.get_name());
  }
  for (const CLI::App* const other : subcommands_of(command)) {
    add(full_name(program, *other, "-"));
  }
  return pages;
}

}  // namespace

std::string man_page(const CLI::App& program, const CLI::App& command, const std::string& release) {
  std::ostringstream page;
  const std::string name = full_name(program, command, "-");
  page << ".TH " << escaped(upper(name)) << " 1 \"\" \"" << escaped(release) << "\" \"User Commands\"\n"
       << ".SH NAME\n"
       << escaped(name) << " \\- " << escaped(without_stop(command.get_description())) << '\n'
       << ".SH SYNOPSIS\n"
       << synopsis(program, command) << '\n';
  if (const auto subcommands = subcommands_of(command); !subcommands.empty()) {
    page << ".SH SUBCOMMANDS\n";
    for (const CLI::App* const other : subcommands) {
      page << ".TP\n" << bold(other->get_name()) << '\n' << escaped(other->get_description()) << '\n';
    }
  }
  page << ".SH OPTIONS\n";
  for (const CLI::Option* const option : options_of(command)) {
    page << ".TP\n" << spelled(*option) << '\n' << escaped(described(*option)) << '\n';
  }
  if (const std::string footer = command.get_footer(); !footer.empty()) {
    page << ".SH NOTES\n" << paragraphs(footer);
  }
  if (const std::string pages = see_also(program, command); !pages.empty()) {
    page << ".SH SEE ALSO\n" << pages << '\n';
  }
  return page.str();
}

}  // namespace tessera::manual
