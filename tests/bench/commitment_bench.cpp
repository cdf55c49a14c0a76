#include "hash/merkle_tree.hpp"
#include "opening/opening.hpp"

#include "../tensor/random_values.hpp"
#include "bench.hpp"

namespace tessera::bench {
namespace {

/// A tensor of 5*2^19 int16 in an oracle of 2^22 cells, 64 rows at rate 1/2: encoding, hashing and the tree.
void commitment(benchmark::State& state) {
  set_threads(state);
  const Shape shape({Dimension::outer(10), Dimension{1024, 8}, Dimension{256, 8}});
  const OracleLayout layout({shape});
  const OracleParameters parameters{6, 1};
  SelfCommunicator self;
  const auto tensor = test::filled<std::int16_t>(shape, {0}, 1, self);
  const std::vector<IntegerTensor> tensors{&tensor};
  for (auto _ : state) {
    benchmark::DoNotOptimize(commit_oracle(layout, parameters, tensors, self)->root());
  }
  report_nanoseconds(state, "ns/used cell", static_cast<double>(layout.used()));
  report_nanoseconds(state, "ns/codeword element",
                     static_cast<double>(std::size_t{1} << (layout.log_size() + parameters.log_inverse_rate)));
}
BENCHMARK(commitment)->Name("commitment/oracle of 2^22 cells")->Apply(each_thread_count);

void hashing(benchmark::State& state, std::size_t length, std::size_t count) {
  set_threads(state);
  std::vector<std::uint8_t> messages(length * count);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    messages[i] = static_cast<std::uint8_t>(i * 167);
  }
  std::vector<Digest> digests(count);
  for (auto _ : state) {
    blake2s_many(messages, length, digests);
    benchmark::ClobberMemory();
  }
  report_rate(state, static_cast<double>(messages.size()));
}
BENCHMARK_CAPTURE(hashing, leaves, 1024, 1 << 14)->Name("BLAKE2s/leaves of 1 KiB")->Apply(each_thread_count);
BENCHMARK_CAPTURE(hashing, nodes, 64, 1 << 17)->Name("BLAKE2s/nodes of 64 bytes")->Apply(each_thread_count);

}  // namespace
}  // namespace tessera::bench
