#include "sumcheck/chunked.hpp"
#include "sumcheck/product_relations.hpp"

#include "../tensor/random_values.hpp"
#include "bench.hpp"

namespace tessera::bench {
namespace {

using test::filled;
using test::RandomElements;

/// A whole sum-check of eq*f*g over 2^20 places, as layers run it: f an int16 activation, g constant along its last
/// dimension. Filling the factors' tables is part of it.
void chunked(benchmark::State& state) {
  set_threads(state);
  const Shape shape({Dimension::outer(4), Dimension{512, 6}, Dimension{512, 6}});
  SelfCommunicator self;
  const Ownership ownership{1};
  const auto f = filled<std::int16_t>(shape, ownership, 1, self);
  RandomElements random(2);
  const std::vector<E> g = random.elements(std::size_t{1} << 11);
  const std::vector<ChunkedFactor> factors{TensorFactor{&f}, BroadcastFactor(shape, g, {true, true, false})};
  const Point at = random.elements(shape.bits());
  for (auto _ : state) {
    ProverTranscript transcript(Digest{2});
    benchmark::DoNotOptimize(
        prove_chunked_sumcheck(transcript, round_kernel(ProductRelation{}), shape, ownership, factors, at, self));
  }
  report_nanoseconds(state, "ns/element", static_cast<double>(f.values().size()));
}
BENCHMARK(chunked)->Name("sum-check/eq*f*g over chunks")->Apply(each_thread_count);

/// The same over tables in memory of 2^18 elements, by one thread.
void dense(benchmark::State& state) {
  set_threads(state);
  constexpr unsigned bits = 18;
  RandomElements random(3);
  const std::vector<std::vector<E>> tables{random.elements(std::size_t{1} << bits),
                                           random.elements(std::size_t{1} << bits)};
  const Point at = random.elements(bits);
  for (auto _ : state) {
    state.PauseTiming();  // layers move their tables
    std::vector<std::vector<E>> consumed = tables;
    state.ResumeTiming();
    ProverTranscript transcript(Digest{3});
    benchmark::DoNotOptimize(
        prove_dense_sumcheck(transcript, round_kernel(ProductRelation{}), std::move(consumed), at));
  }
  report_nanoseconds(state, "ns/element", static_cast<double>(std::size_t{1} << bits));
}
BENCHMARK(dense)->Name("sum-check/eq*f*g, dense")->Apply(one_thread);

/// All rounds of the opening's sum of a*b over 2^20 places.
void opening_rounds(benchmark::State& state) {
  set_threads(state);
  constexpr unsigned bits = 20;
  RandomElements random(4);
  const std::vector<E> a = random.elements(std::size_t{1} << bits);
  const std::vector<E> b = random.elements(std::size_t{1} << bits);
  const std::vector<DenseTable> tables{DenseTable::of(a), DenseTable::of(b)};
  for (auto _ : state) {
    ProverTranscript transcript(Digest{4});
    DenseSummand summand(round_kernel(ProductRelation{}), tables);
    benchmark::DoNotOptimize(prove_rounds(transcript, summand, bits, {}, E::one()));
  }
  report_nanoseconds(state, "ns/element", static_cast<double>(std::size_t{1} << bits));
}
BENCHMARK(opening_rounds)->Name("sum-check/a*b of the opening")->Apply(each_thread_count);

}  // namespace
}  // namespace tessera::bench
