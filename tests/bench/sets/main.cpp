#include <benchmark/benchmark.h>
#include <omp.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "arithmetic/instructions.hpp"
#include "base/errors.hpp"

namespace {

/// The names that TESSERA_INSTRUCTIONS can have here, a line each.
void print_instruction_sets() {
  for (const std::string_view name : tessera::instruction_names()) {
    std::puts(std::string(name).c_str());
  }
}

}  // namespace

/// Kernels by one thread, and what they could take at best, with the instruction set that TESSERA_INSTRUCTIONS names;
/// --instruction-sets says which ones this processor has.
int main(int count, char** arguments) {
  if (count == 2 && std::string_view(arguments[1]) == "--instruction-sets") {
    print_instruction_sets();
    return 0;
  }
  try {
    if (const char* const widest = std::getenv("TESSERA_INSTRUCTIONS")) {
      tessera::limit_instructions(std::string_view(widest));
    }
  } catch (const tessera::InputError& error) {
    std::fprintf(stderr, "bench_sets: %s\n", error.what());
    return 2;
  }
  omp_set_num_threads(1);
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) {
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
