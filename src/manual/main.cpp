// Manual pages and bash completion of a program, made from its options: <this> DIRECTORY. The header and the type of
// the options are given by the build.
#include <iostream>

#include TESSERA_OPTIONS_HEADER
#include "manual/pages.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " DIRECTORY\n";
    return 2;
  }
  try {
    tessera::cli::TESSERA_OPTIONS options;
    CLI::App program;
    declare(program, options);
    tessera::manual::write_pages(program, argv[1]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
