#include "hash/merkle_tree.hpp"
#include "measure.hpp"

namespace tessera::bench {
namespace {

constexpr std::size_t block_bytes = 64;
constexpr double mixes_of_block = 80;  // 10 rounds of 8

/// Leaves of a tree: messages of one length side by side.
void hash_many(benchmark::State& state, Level level, std::size_t length) {
  const std::size_t count = fitting(level, length);
  const std::span messages(some_values<std::uint8_t>(length * count), length * count);
  const std::span digests(results_of<Digest>(count), count);
  for (auto _ : state) {
    blake2s_many(messages, length, digests);
    benchmark::ClobberMemory();
  }
  const double blocks = static_cast<double>(length / block_bytes);
  report(state, "ns/block", static_cast<double>(count) * blocks, level,
         {.mixes = mixes_of_block, .read = block_bytes, .written = sizeof(Digest) / blocks});
}
BENCHMARK_CAPTURE(hash_many, leaves, Level::cache, 1024)->Name("BLAKE2s/leaves of 1 KiB");
BENCHMARK_CAPTURE(hash_many, leaves_in_memory, Level::memory, 1024)->Name("BLAKE2s/leaves of 1 KiB, in memory");
BENCHMARK_CAPTURE(hash_many, nodes, Level::cache, block_bytes)->Name("BLAKE2s/nodes of 64 bytes");

/// One message, as transcripts hash them.
void hash_one(benchmark::State& state) {
  constexpr std::size_t length = 4096;
  const std::span message(some_values<std::uint8_t>(length), length);
  for (auto _ : state) {
    benchmark::DoNotOptimize(blake2s(message));
  }
  report(state, "ns/block", length / block_bytes, Level::cache, {.plain_mixes = mixes_of_block, .read = block_bytes});
}
BENCHMARK(hash_one)->Name("BLAKE2s/one message");

}  // namespace
}  // namespace tessera::bench
