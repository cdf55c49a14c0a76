#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <span>

#include "field/extension.hpp"

/// \file
/// What the kernels of the table have in common: where their data lies, and what an item of theirs is made of. Times
/// are processor times of one thread.

namespace tessera::bench {

/// What an item of a kernel is made of: steps of peaks.hpp, and bytes that come and go. What they take at best follows,
/// in jobs/bench_kernels.py. Counts are those of the formulas in the kernels' headers; what a kernel does beside them
/// (reading, shuffles, loops) is its own affair.
struct Operations {
  double field_products = 0;
  double extension_products = 0;
  double reductions = 0;
  double weak_reductions = 0;
  double additions = 0;
  double kept_additions = 0;
  double sevenfolds = 0;
  double small_products = 0;
  double integer_products = 0;
  double pair_products = 0;
  double mixes = 0;
  double plain_mixes = 0;
  double read = 0;
  double written = 0;

  friend Operations operator+(Operations a, const Operations& b);
  friend Operations operator*(double count, Operations a);
};

/// low + challenge*(high - low) in E.
inline constexpr Operations on_a_line{.extension_products = 1, .reductions = 2, .additions = 2, .kept_additions = 2};

/// Where a kernel's data lies.
enum class Level : std::uint8_t {
  cache,   // half of the second-level cache
  memory,  // several times the last cache
};
/// " in memory" of data that lies there: the end of a kernel's name.
const char* suffix(Level level);

/// How many items of so many bytes fill a level: a power of two.
std::size_t fitting(Level level, std::size_t bytes_of_item);

/// Random canonical elements of F, or what their bytes are as integers; the same storage at each call. Kernels may
/// write elements there.
F* some_elements(std::size_t count);
template <class T>
T* some_values(std::size_t count) {
  return reinterpret_cast<T*>(some_elements((count * sizeof(T) + sizeof(F) - 1) / sizeof(F)));
}
/// Storage for results, apart from them and the same at each call.
std::byte* storage_for_results(std::size_t bytes);
template <class T>
T* results_of(std::size_t count) {
  return reinterpret_cast<T*>(storage_for_results(count * sizeof(T)));
}
/// A challenge, or another element of E.
inline E some_factor() { return {F::from_canonical(0x123456789ABCDEF), F::from_canonical(0xFEDCBA987654321)}; }

/// Nanoseconds for each of so many items an iteration.
inline benchmark::Counter nanoseconds_for(double items) {
  using benchmark::Counter;
  return {items * 1e-9, Counter::kIsIterationInvariantRate | Counter::kInvert};
}

/// The benchmark's row: nanoseconds for each of `items` items a call, and what they are made of.
void report(benchmark::State& state, const char* unit, double items, Level level, const Operations& of_item);

}  // namespace tessera::bench
