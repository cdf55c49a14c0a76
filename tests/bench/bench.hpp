#pragma once

#include <benchmark/benchmark.h>
#include <omp.h>

#include <cstdlib>

/// \file
/// What the kernel benchmarks share. A benchmark's name is what is measured; every counter is one number of the report,
/// its name the unit. Times are wall time for all threads together.

namespace tessera::bench {

/// One thread, and as many as jobs/bench.sh says (TESSERA_BENCH_THREADS, 2 without it).
inline void each_thread_count(benchmark::internal::Benchmark* bench) {
  const char* const text = std::getenv("TESSERA_BENCH_THREADS");
  const int many = text == nullptr ? 2 : std::atoi(text);
  bench->ArgName("threads")->Arg(1);
  if (many > 1) {
    bench->Arg(many);
  }
  bench->UseRealTime()->Unit(benchmark::kMillisecond);
}

/// For work that is done by one thread whatever there is.
inline void one_thread(benchmark::internal::Benchmark* bench) {
  bench->ArgName("threads")->Arg(1)->UseRealTime()->Unit(benchmark::kMillisecond);
}

inline void set_threads(const benchmark::State& state) { omp_set_num_threads(static_cast<int>(state.range(0))); }

/// Wall nanoseconds for each of `count` items of an iteration.
inline void report_nanoseconds(benchmark::State& state, const char* unit, double count) {
  using benchmark::Counter;
  state.counters[unit] = Counter(count * 1e-9, Counter::kIsIterationInvariantRate | Counter::kInvert);
}

/// `bytes` an iteration as GB/s (10^9 bytes).
inline void report_rate(benchmark::State& state, double bytes) {
  state.counters["GB/s"] = benchmark::Counter(bytes * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace tessera::bench
