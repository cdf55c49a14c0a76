#include <benchmark/benchmark.h>
#include <hwy/targets.h>

#include <cstdio>
#include <string_view>

/// Kernel benchmarks; --instruction-set says which one the kernels choose on this machine.
int main(int count, char** arguments) {
  if (count == 2 && std::string_view(arguments[1]) == "--instruction-set") {
    const std::int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
    std::puts(hwy::TargetName(targets & -targets));  // the lowest bit is the best one
    return 0;
  }
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) {
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
