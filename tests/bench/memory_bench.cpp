#include <sys/mman.h>

#include <cstring>
#include <new>
#include <vector>

#include "bench.hpp"

namespace tessera::bench {
namespace {

constexpr std::size_t bytes = std::size_t{1} << 28;  // more than most caches
constexpr std::size_t piece = std::size_t{1} << 21;

/// Integers summed up from memory.
void reading(benchmark::State& state) {
  set_threads(state);
  const std::vector<std::uint64_t> values(bytes / sizeof(std::uint64_t), 3);
  for (auto _ : state) {
    std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (std::size_t i = 0; i < values.size(); ++i) {
      sum += values[i];
    }
    benchmark::DoNotOptimize(sum);
  }
  report_rate(state, bytes);
}
BENCHMARK(reading)->Name("memory/read")->Apply(each_thread_count);

/// Bytes from one place to another, counted once.
void copying(benchmark::State& state) {
  set_threads(state);
  const std::vector<std::byte> from(bytes, std::byte{1});
  std::vector<std::byte> to(bytes);
  for (auto _ : state) {
#pragma omp parallel for schedule(static)
    for (std::size_t first = 0; first < bytes; first += piece) {
      std::memcpy(to.data() + first, from.data() + first, piece);
    }
    benchmark::ClobberMemory();
  }
  report_rate(state, bytes);
}
BENCHMARK(copying)->Name("memory/copy")->Apply(each_thread_count);

/// Huge pages from the system, written for the first time. What a host needs to back them is in it if it took them back
/// since they were last used.
void touching(benchmark::State& state) {
  set_threads(state);
  for (auto _ : state) {
    void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
      throw std::bad_alloc();
    }
    madvise(mapped, bytes, MADV_HUGEPAGE);
    auto* const begin = static_cast<volatile std::byte*>(mapped);
    constexpr std::size_t page = 4096;
#pragma omp parallel for schedule(static)
    for (std::size_t first = 0; first < bytes; first += page) {
      begin[first] = std::byte{1};
    }
    state.PauseTiming();
    munmap(mapped, bytes);
    state.ResumeTiming();
  }
  report_rate(state, bytes);
}
BENCHMARK(touching)->Name("memory/first touch")->Apply(each_thread_count);

}  // namespace
}  // namespace tessera::bench
