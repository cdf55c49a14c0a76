#include <bit>
#include <string>

#include "measure.hpp"
#include "peaks.hpp"

namespace tessera::bench {
namespace {

constexpr const char* step_names[] = {
    "field product", "extension product", "reduction",     "weak reduction",  "addition",
    "kept addition", "sevenfold",         "small product", "integer product", "pair product",
    "mix",           "multiplication",    "shift",         "instruction",
};
static_assert(std::size(step_names) == step_count);

void step_peak(benchmark::State& state, Step step) {
  constexpr std::size_t steps = 4096;
  const auto chains = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    repeat(step, chains, steps);
  }
  const auto lanes = static_cast<double>(lanes_of(step));
  state.counters["ns"] = nanoseconds_for(lanes * static_cast<double>(chains * steps));
  if (const InstructionCounts counts = instructions_of(step); counts.all > 0) {
    state.counters["of multiplication"] = counts.multiplications;
    state.counters["of shift"] = counts.shifts;
    state.counters["of instruction"] = counts.all;
  }
}

/// Words of BLAKE2s without vectors.
void plain_mix(std::uint32_t* v, std::uint32_t x, std::uint32_t y) {
  v[0] += v[1] + x;
  v[3] = std::rotr(v[3] ^ v[0], 16);
  v[2] += v[3];
  v[1] = std::rotr(v[1] ^ v[2], 12);
  v[0] += v[1] + y;
  v[3] = std::rotr(v[3] ^ v[0], 8);
  v[2] += v[3];
  v[1] = std::rotr(v[1] ^ v[2], 7);
}

template <std::size_t chains>
void plain_mixes(std::size_t count) {
  std::uint32_t v[chains][4] = {};
  std::uint32_t x = 1, y = 2;
  for (; count > 0; --count) {
    for (auto& chain : v) {
      asm volatile("" : "+r"(x));
      plain_mix(chain, x, y);
    }
  }
  benchmark::DoNotOptimize(v);
}

void plain_mix_peak(benchmark::State& state) {
  constexpr std::size_t steps = 4096;
  const auto chains = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    chains == 1 ? plain_mixes<1>(steps) : chains == 2 ? plain_mixes<2>(steps) : plain_mixes<3>(steps);
  }
  state.counters["ns"] = nanoseconds_for(static_cast<double>(chains * steps));
}

enum class Direction : std::uint8_t { read, write, stream };

/// Nanoseconds a byte.
void memory_peak(benchmark::State& state, Level level, Direction direction) {
  const std::size_t count = fitting(level, sizeof(std::uint64_t));
  const std::uint64_t* const words = some_values<std::uint64_t>(count);
  auto* const results = results_of<std::uint64_t>(count);
  for (auto _ : state) {
    direction == Direction::read    ? read_words(words, count)
    : direction == Direction::write ? write_words(results, count)
                                    : stream_words(results, count);
    benchmark::ClobberMemory();
  }
  state.counters["ns"] = nanoseconds_for(static_cast<double>(count * sizeof(std::uint64_t)));
}

const bool peaks_are_there = [] {
  using benchmark::RegisterBenchmark;
  for (std::size_t i = 0; i < step_count; ++i) {
    auto* const bench =
        RegisterBenchmark((std::string("peak/") + step_names[i]).c_str(), step_peak, static_cast<Step>(i));
    for (const std::size_t chains : chain_counts) {
      bench->Arg(static_cast<std::int64_t>(chains));
    }
  }
  RegisterBenchmark("peak/plain mix", plain_mix_peak)->Arg(1)->Arg(2)->Arg(3);
  for (const Level level : {Level::cache, Level::memory}) {
    const std::string where = level == Level::memory ? "in memory" : "in the cache";
    RegisterBenchmark(("peak/bytes read " + where).c_str(), memory_peak, level, Direction::read);
    RegisterBenchmark(("peak/bytes written " + where).c_str(), memory_peak, level, Direction::write);
  }
  RegisterBenchmark("peak/bytes written in memory/streamed", memory_peak, Level::memory, Direction::stream);
  return true;
}();

}  // namespace
}  // namespace tessera::bench
