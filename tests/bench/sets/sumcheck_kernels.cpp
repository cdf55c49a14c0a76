#include <bit>
#include <vector>

#include "measure.hpp"
#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/matrix_product.hpp"
#include "subprotocols/norm.hpp"
#include "sumcheck/product_relations.hpp"
#include "sumcheck/round_kernel.hpp"

namespace tessera::bench {
namespace {

/// What a round does: whether a variable is bound first, whether pairs have weights, and where the tables lie.
struct Round {
  bool binding = false;
  bool weighted = false;
  Level level = Level::cache;
};

/// Of a relation: its factors, what one of the values that are summed takes beside them, and how often a factor goes
/// from one point to the next.
struct RelationCosts {
  double points;
  Operations value;
  double advances;
};

/// Rounds over all pairs of the tables: `costs` of a round that binds, in which h(1) is not asked for, or of one that
/// does not. In place, as engines bind.
void rounds(benchmark::State& state, const RoundKernel& kernel, Round round, const RelationCosts& costs) {
  const std::size_t values = round.binding ? 4 : 2;  // of a factor and a pair
  const std::size_t pairs = fitting(round.level, kernel.factors * values * sizeof(E));
  std::vector<E*> tables;
  for (std::size_t k = 0; k < kernel.factors; ++k) {
    tables.push_back(some_values<E>(kernel.factors * values * pairs) + k * values * pairs);
  }
  const std::vector<E> at(static_cast<std::size_t>(std::bit_width(pairs) - 1), some_factor());
  const RoundWeights weights = round.weighted ? RoundWeights(at) : RoundWeights();
  const RoundRun run{.tables = tables.data(),
                     .pairs = pairs,
                     .weights = weights,
                     .with_one = !round.binding && !round.weighted,
                     .bound = round.binding ? tables.data() : nullptr,
                     .challenge = some_factor()};
  for (auto _ : state) {
    benchmark::DoNotOptimize(kernel.run(run));
    benchmark::ClobberMemory();
  }
  // a factor's slope, and its steps along the line
  const Operations of_factor =
      (round.binding ? 2.0 : 0.0) * on_a_line + Operations{.additions = 2 + 2 * costs.advances};
  const double bytes = static_cast<double>(sizeof(E) * values * kernel.factors);
  report(state, "ns/pair", static_cast<double>(pairs), round.level,
         static_cast<double>(kernel.factors) * of_factor + costs.points * costs.value +
             Operations{.read = bytes, .written = round.binding ? bytes / 2 : 0});
}

// Sums are reduced at the end alone; of a product of two factors nothing else is.
constexpr Operations of_product{.extension_products = 1};
// A weight is multiplied into one factor of each of the two values.
constexpr Operations of_weighted_product{.extension_products = 2, .reductions = 2};

void product(benchmark::State& state, Round round) {
  // h(0) and the leading coefficient; weights are known where the claim is
  rounds(state, round_kernel(ProductRelation{}), round,
         {round.weighted || round.binding ? 2.0 : 3.0, round.weighted ? of_weighted_product : of_product,
          round.weighted || round.binding ? 0.0 : 1.0});
}
BENCHMARK_CAPTURE(product, first, Round{.weighted = true})->Name("sum-check/eq*f*g, first round");
BENCHMARK_CAPTURE(product, bind, Round{.binding = true, .weighted = true})->Name("sum-check/eq*f*g, binding");
BENCHMARK_CAPTURE(product, plain, Round{.binding = true})->Name("sum-check/f*g, binding");
BENCHMARK_CAPTURE(product, far, Round{.binding = true, .level = Level::memory})
    ->Name("sum-check/f*g, binding, in memory");

void triple(benchmark::State& state, Round round) {
  // h(0), h(2) and the leading coefficient, h(1) in a first round: (a*b)*c
  rounds(state, round_kernel(TripleProductRelation{}), round,
         {round.binding ? 3.0 : 4.0, {.extension_products = 2, .weak_reductions = 2, .sevenfolds = 1}, 2});
}
BENCHMARK_CAPTURE(triple, first, Round{})->Name("sum-check/f*g*h, first round");
BENCHMARK_CAPTURE(triple, bind, Round{.binding = true})->Name("sum-check/f*g*h, binding");

void reduction(benchmark::State& state, Round round) {
  // h(0) and the leading coefficient: two products
  rounds(state, round_kernel(ReductionRelation{2}), round,
         {round.binding ? 2.0 : 3.0, {.extension_products = 2}, round.binding ? 0.0 : 1.0});
}
BENCHMARK_CAPTURE(reduction, bind, Round{.binding = true})->Name("sum-check/reduction of two claims, binding");

void matrix_product(benchmark::State& state, Round round) {
  // h(0), h(2) and the leading coefficient: (a*b)*(r*c + s*d), the sum canonical
  rounds(state, round_kernel(MatrixProductRelation{{some_factor(), some_factor()}}), round,
         {3, {.extension_products = 4, .reductions = 4, .weak_reductions = 2, .additions = 2, .sevenfolds = 1}, 2});
}
BENCHMARK_CAPTURE(matrix_product, bind, Round{.binding = true})->Name("sum-check/matrix products, binding");

void square(benchmark::State& state, Round round) {
  // h(0) and the leading coefficient, with weights
  rounds(state, round_kernel(SquareRelation{}), round, {2, of_weighted_product, 0});
}
BENCHMARK_CAPTURE(square, bind, Round{.binding = true, .weighted = true})->Name("sum-check/eq*f*f, binding");

void bind_table(benchmark::State& state, Level level) {
  const std::size_t pairs = fitting(level, 3 * sizeof(E));
  const E* const table = some_values<E>(2 * pairs);
  E* const bound = results_of<E>(pairs);
  for (auto _ : state) {
    bind_lowest(table, bound, pairs, some_factor());
    benchmark::ClobberMemory();
  }
  report(state, "ns/pair", static_cast<double>(pairs), level,
         on_a_line + Operations{.read = 2 * sizeof(E), .written = sizeof(E)});
}
BENCHMARK_CAPTURE(bind_table, cache, Level::cache)->Name("sum-check/bind_lowest");
BENCHMARK_CAPTURE(bind_table, memory, Level::memory)->Name("sum-check/bind_lowest, in memory");

}  // namespace
}  // namespace tessera::bench
