#include "arithmetic/product_kernels.hpp"
#include "field/integer_products.hpp"
#include "field/ntt_kernels.hpp"
#include "field/scale_kernels.hpp"
#include "measure.hpp"

namespace tessera::bench {
namespace {

void scaling(benchmark::State& state, Level level) {
  const std::size_t count = fitting(level, 2 * sizeof(F));
  const F* const values = some_elements(count);
  F* const products = results_of<F>(count);
  for (auto _ : state) {
    scale(some_factor().c0, values, count, products);
    benchmark::ClobberMemory();
  }
  report(state, "ns/value", static_cast<double>(count), level,
         {.field_products = 1, .read = sizeof(F), .written = sizeof(F)});
}
BENCHMARK_CAPTURE(scaling, cache, Level::cache)->Name("field/scale");
BENCHMARK_CAPTURE(scaling, memory, Level::memory)->Name("field/scale, in memory");

void adding(benchmark::State& state, Level level) {
  const std::size_t count = fitting(level, 2 * sizeof(F));
  const F* const values = some_elements(count);
  F* const sums = results_of<F>(count);
  for (auto _ : state) {
    add_scaled(some_factor().c0, values, count, sums);
    benchmark::ClobberMemory();
  }
  report(state, "ns/value", static_cast<double>(count), level,
         {.field_products = 1, .additions = 1, .read = 2 * sizeof(F), .written = sizeof(F)});
}
BENCHMARK_CAPTURE(adding, cache, Level::cache)->Name("field/add_scaled");
BENCHMARK_CAPTURE(adding, memory, Level::memory)->Name("field/add_scaled, in memory");

/// What a value takes in a step of a transform. Layer t of it has 2^t twiddles that are powers of two, one of them 1;
/// a product by such a power is a reduction, and a row that is only added to another one is made canonical, which is
/// an addition at most.
Operations transform_step(unsigned layers, bool twiddles) {
  Operations step{.kept_additions = static_cast<double>(layers)};
  for (unsigned t = 0; t < layers; ++t) {
    const double half = static_cast<double>(std::size_t{1} << t);
    step.reductions += (half - 1) / (2 * half);
    step.additions += t == 0 ? 0 : 1 / (2 * half);
  }
  const double rows = static_cast<double>(std::size_t{1} << layers);
  step.field_products = twiddles ? (rows - 1) / rows : 0;
  return step;
}

/// Slots of some columns, as a pass of a longer transform takes them: the first pass, or one with twiddles of a coset.
void transform(benchmark::State& state, bool first_pass) {
  constexpr unsigned log_rows = 11;
  constexpr std::size_t lanes = 8;
  const PassTwiddles plain(log_rows);
  PassTwiddles twiddles = plain;
  if (!first_pass) {
    twiddles.set_coset(plain, {1, 8});
  }
  F* const rows = some_elements(twiddles.size(lanes));
  for (auto _ : state) {
    transform_rows(rows, lanes, twiddles);
    benchmark::ClobberMemory();
  }
  Operations of_value{.additions = 1};  // results are canonical
  for (const TransformStep& step : twiddles.steps()) {
    of_value = of_value + transform_step(step.count, step.first > 0 || !first_pass);
    of_value.read += sizeof(F);
    of_value.written += sizeof(F);
  }
  report(state, "ns/value", static_cast<double>(lanes << log_rows), Level::cache, of_value);
}
BENCHMARK_CAPTURE(transform, first, true)->Name("field/transform of 2^11 rows");
BENCHMARK_CAPTURE(transform, later, false)->Name("field/transform of 2^11 rows, of a coset");

}  // namespace
}  // namespace tessera::bench
