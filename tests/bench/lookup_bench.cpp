#include "../lookup/instance.hpp"
#include "bench.hpp"

namespace tessera::bench {
namespace {

/// One column of 2^20 values of a table of 2^16 rows. The table's rows are part of the instance and of the time.
test::Instance one_column(bool pairs) {
  std::mt19937_64 random(1);
  test::Instance instance;
  std::vector<std::int64_t> values(pairs ? std::size_t{1} << 16 : 0);
  for (std::int64_t& value : values) {
    value = static_cast<std::int64_t>(random() % (1U << 16)) - (1 << 15);
  }
  instance.add_table("table", 16, std::move(values));
  instance.add_column(Shape({Dimension::outer(16), Dimension{1024, 8}, Dimension{64, 6}}), 0, {1}, random);
  return instance;
}

void lookup(benchmark::State& state, bool pairs) {
  set_threads(state);
  const test::Instance instance = one_column(pairs);
  const std::vector<LookupColumnData> data = instance.data();
  const std::vector<std::vector<std::int64_t>> multiplicities = instance.multiplicities();
  SelfCommunicator self;
  for (auto _ : state) {
    ProverTranscript transcript(Digest{1});
    benchmark::DoNotOptimize(prove_lookup(transcript, instance.structure, data, multiplicities, self));
  }
  report_nanoseconds(state, "ns/look-up", static_cast<double>(instance.a.front().size()));
}
BENCHMARK_CAPTURE(lookup, range, false)->Name("look-up/range column")->Apply(each_thread_count);
BENCHMARK_CAPTURE(lookup, pairs, true)->Name("look-up/pair column")->Apply(each_thread_count);

}  // namespace
}  // namespace tessera::bench
