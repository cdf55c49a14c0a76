#include <algorithm>

#include "lookup/level_kernels.hpp"
#include "measure.hpp"

namespace tessera::bench {
namespace {

constexpr std::size_t run = 512;  // outputs of a call, which share a table of eq's values

/// Weights that stay in the nearest cache.
const WeightBlock* some_eq() {
  static const std::vector<WeightBlock> blocks = [] {
    std::vector<WeightBlock> made(run / block_lanes);
    for (std::size_t i = 0; i < run; ++i) {
      store_weight(made.data(), i, {some_elements(2 * run)[2 * i], some_elements(2 * run)[2 * i + 1]});
    }
    return made;
  }();
  return blocks.data();
}

/// kernel(first) for runs of nodes from `first` on.
template <class Kernel>
void measure(benchmark::State& state, std::size_t nodes, const Kernel& kernel) {
  for (auto _ : state) {
    for (std::size_t first = 0; first < nodes; first += run) {
      kernel(first);
    }
    benchmark::ClobberMemory();
  }
}

constexpr double node = sizeof(ChildrenBlock) / static_cast<double>(block_lanes);
constexpr double denominators_of_node = sizeof(DenominatorsBlock) / static_cast<double>(block_lanes);
constexpr double four_leaves = 4 * sizeof(std::uint16_t);

// g = q0*s + p0*q1, at the low node and in the differences, each times a weight that has 7*c1 at hand.
constexpr Operations of_children{.extension_products = 6, .weak_reductions = 4, .additions = 8, .sevenfolds = 4};
// g = q0*q1 likewise.
constexpr Operations of_denominators{.extension_products = 4, .weak_reductions = 4, .additions = 4, .sevenfolds = 2};

void combine(benchmark::State& state, Level level) {
  const std::size_t nodes = fitting(level, static_cast<std::size_t>(3 * node));
  const auto* const in = some_values<ChildrenBlock>(2 * nodes / block_lanes);
  auto* const out = results_of<ChildrenBlock>(nodes / block_lanes);
  measure(state, nodes,
          [&](std::size_t first) { combine_children(in + 2 * first / block_lanes, out + first / block_lanes, run); });
  // p0*q1 + p1*q0 and q0*q1 of two children, with 7*c1 of both q
  report(state, "ns/node", static_cast<double>(nodes), level,
         {.extension_products = 6, .reductions = 8, .sevenfolds = 4, .read = 2 * node, .written = node});
}
BENCHMARK_CAPTURE(combine, cache, Level::cache)->Name("look-up/combine_children");
BENCHMARK_CAPTURE(combine, memory, Level::memory)->Name("look-up/combine_children, in memory");

void first(benchmark::State& state, Level level) {
  const std::size_t pairs = fitting(level, static_cast<std::size_t>(2 * node));
  auto* const nodes = some_values<ChildrenBlock>(2 * pairs / block_lanes);
  const WeightBlock* const eq = some_eq();
  measure(state, pairs, [&](std::size_t at) {
    benchmark::DoNotOptimize(first_round(nodes + 2 * at / block_lanes, eq, some_factor(), run));
  });
  // s = p1 + tau*q1 of both nodes, which is written
  report(state, "ns/pair", static_cast<double>(pairs), level,
         of_children +
             Operations{
                 .extension_products = 2, .reductions = 4, .additions = 4, .read = 2 * node, .written = 2 * sizeof(E)});
}
BENCHMARK_CAPTURE(first, cache, Level::cache)->Name("look-up/first_round");
BENCHMARK_CAPTURE(first, memory, Level::memory)->Name("look-up/first_round, in memory");

void bind(benchmark::State& state, Level level) {
  const std::size_t bound = fitting(level, static_cast<std::size_t>(2 * node));
  auto* const nodes = some_values<ChildrenBlock>(2 * bound / block_lanes);
  const WeightBlock* const eq = some_eq();
  measure(state, bound, [&](std::size_t at) {
    benchmark::DoNotOptimize(
        bind_round(nodes + 2 * at / block_lanes, nodes + at / block_lanes, eq, some_factor(), run));
  });
  report(state, "ns/bound node", static_cast<double>(bound), level,
         4.0 * on_a_line + 0.5 * of_children + Operations{.read = 2 * node, .written = node});
}
BENCHMARK_CAPTURE(bind, cache, Level::cache)->Name("look-up/bind_round");
BENCHMARK_CAPTURE(bind, memory, Level::memory)->Name("look-up/bind_round, in memory");

void bind_denominators(benchmark::State& state, Level level) {
  const std::size_t bound = fitting(level, static_cast<std::size_t>(2 * denominators_of_node));
  auto* const nodes = some_values<DenominatorsBlock>(2 * bound / block_lanes);
  const WeightBlock* const eq = some_eq();
  measure(state, bound, [&](std::size_t at) {
    benchmark::DoNotOptimize(
        denominators_bind_round(nodes + 2 * at / block_lanes, nodes + at / block_lanes, eq, some_factor(), run));
  });
  report(state, "ns/bound node", static_cast<double>(bound), level,
         2.0 * on_a_line + 0.5 * of_denominators +
             Operations{.read = 2 * denominators_of_node, .written = denominators_of_node});
}
BENCHMARK_CAPTURE(bind_denominators, cache, Level::cache)->Name("look-up/denominators_bind_round");
BENCHMARK_CAPTURE(bind_denominators, memory, Level::memory)->Name("look-up/denominators_bind_round, in memory");

/// Leaves of a range table, or of one of pairs.
LeafIntegers some_leaves(std::size_t leaves, bool pairs) {
  return {.narrow = some_values<std::uint16_t>(leaves),
          .narrow_b = pairs ? some_values<std::int16_t>(2 * leaves) + leaves : nullptr};
}
const LeafCode some_code{some_factor(), E(some_factor().c1, some_factor().c0)};

// shift - a - lambda*b of a leaf.
constexpr Operations of_pair_leaf{.additions = 3, .small_products = 2};

void combine_from_leaves(benchmark::State& state, Level level, bool pairs) {
  const std::size_t nodes = fitting(level, static_cast<std::size_t>(node + 2 * four_leaves));
  const LeafIntegers leaves = some_leaves(4 * nodes, pairs);
  auto* const out = results_of<ChildrenBlock>(nodes / block_lanes);
  measure(state, nodes,
          [&](std::size_t at) { combine_leaves(leaves.from(4 * at), some_code, out + at / block_lanes, run); });
  // of two leaves of a range: 2*shift - (a + a') and shift^2 - shift*(a + a') + a*a'
  constexpr Operations of_ranges{.additions = 4, .small_products = 2, .integer_products = 1};
  // of two pairs: the sum and the product of both denominators
  constexpr Operations of_pairs{.extension_products = 1, .reductions = 2, .additions = 2, .sevenfolds = 1};
  report(state, "ns/node", static_cast<double>(nodes), level,
         (pairs ? 2.0 * of_pairs + 4.0 * of_pair_leaf : 2.0 * of_ranges) +
             Operations{.read = (pairs ? 2 : 1) * four_leaves, .written = node});
}
BENCHMARK_CAPTURE(combine_from_leaves, ranges, Level::cache, false)->Name("look-up/combine_leaves, ranges");
BENCHMARK_CAPTURE(combine_from_leaves, ranges_far, Level::memory, false)
    ->Name("look-up/combine_leaves, ranges, in memory");
BENCHMARK_CAPTURE(combine_from_leaves, pairs, Level::cache, true)->Name("look-up/combine_leaves, pairs");

void bind_leaves(benchmark::State& state, Level level, bool pairs) {
  const std::size_t bound = fitting(level, static_cast<std::size_t>(denominators_of_node + 2 * four_leaves));
  const LeafIntegers leaves = some_leaves(4 * bound, pairs);
  auto* const out = results_of<DenominatorsBlock>(bound / block_lanes);
  const WeightBlock* const eq = some_eq();
  measure(state, bound, [&](std::size_t at) {
    benchmark::DoNotOptimize(
        leaf_bind_round(leaves.from(4 * at), some_code, out + at / block_lanes, eq, some_factor(), run));
  });
  // two denominators on lines; those of a range are shift' - a - challenge*(a' - a), of which a' - a is short
  constexpr Operations on_short_line{.additions = 3, .small_products = 2};
  report(state, "ns/bound node", static_cast<double>(bound), level,
         0.5 * of_denominators + (pairs ? 2.0 * on_a_line + 4.0 * of_pair_leaf : 2.0 * on_short_line) +
             Operations{.read = (pairs ? 2 : 1) * four_leaves, .written = denominators_of_node});
}
BENCHMARK_CAPTURE(bind_leaves, ranges, Level::cache, false)->Name("look-up/leaf_bind_round, ranges");
BENCHMARK_CAPTURE(bind_leaves, ranges_far, Level::memory, false)->Name("look-up/leaf_bind_round, ranges, in memory");
BENCHMARK_CAPTURE(bind_leaves, pairs, Level::cache, true)->Name("look-up/leaf_bind_round, pairs");

}  // namespace
}  // namespace tessera::bench
