// Manual pages and bash completion of a program, made from its options: <this> DIRECTORY. The header and the type of
// the options are given by the build.
#include TESSERA_OPTIONS_HEADER
#include "manual/pages.hpp"

int main(int argc, char** argv) {
  tessera::cli::TESSERA_OPTIONS options;
  return tessera::manual::write_pages(argc, argv, [&options](CLI::App& program) { declare(program, options); });
}
