#include <tessera/verify.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "manual/pages.hpp"
#include "manual/tables.hpp"

namespace tessera::manual {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary);
  if (!(stream << text) || !stream.flush()) {
    throw std::runtime_error(file.string() + ": cannot be written");
  }
}

void write_all_pages(const CLI::App& program, const std::string& directory) {
  const fs::path man = fs::path(directory) / "man1";
  const fs::path completions = fs::path(directory) / "completions";
  fs::create_directories(man);
  fs::create_directories(completions);
  const std::string release = std::string("tessera ") + tessera_version();
  write(man / (program.get_name() + ".1"), man_page(program, program, release));
  for (const CLI::App* const command : subcommands_of(program)) {
    write(man / (full_name(program, *command, "-") + ".1"), man_page(program, *command, release));
  }
  write(completions / program.get_name(), bash_completion(program));
}

}  // namespace

int write_pages(int argc, char** argv, const std::function<void(CLI::App&)>& declare) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " DIRECTORY\n";
    return 2;
  }
  try {
    CLI::App program;
    declare(program);
    write_all_pages(program, argv[1]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
  return 0;
}

}  // namespace tessera::manual
