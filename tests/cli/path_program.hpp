#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "cli/check_paths.hpp"
#include "cli/options.hpp"

namespace tessera::cli {

/// All options, as the program has them; a test fills them in.
struct Program {
  Options options;
  CLI::App app;
  Program() { declare(app, options); }
  [[nodiscard]] std::string check() const {
    try {
      check_paths(options.paths);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
};

inline void collect(const CLI::App& app, std::vector<CLI::Option*>& options) {
  for (const CLI::Option* const option : app.get_options()) {
    options.push_back(const_cast<CLI::Option*>(option));
  }
  for (const CLI::App* const group : app.get_subcommands([](const CLI::App*) { return true; })) {
    collect(*group, options);
  }
}

inline std::vector<CLI::Option*> options_of(const CLI::App& app) {
  std::vector<CLI::Option*> options;
  collect(app, options);
  return options;
}

inline const PathOptions::Entry* entry_of(const Options& options, const CLI::Option* option) {
  const auto found = std::ranges::find(options.paths.entries(), option, &PathOptions::Entry::option);
  return found == options.paths.entries().end() ? nullptr : &*found;
}

}  // namespace tessera::cli
