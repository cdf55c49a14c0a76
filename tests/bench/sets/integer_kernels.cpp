#include <algorithm>
#include <vector>

#include "arithmetic/product_kernels.hpp"
#include "field/integer_products.hpp"
#include "field/scale_kernels.hpp"
#include "measure.hpp"

namespace tessera::bench {
namespace {

const std::vector<E>& some_weights(std::size_t count) {
  static std::vector<E> weights;
  const F* const values = some_elements(2 * count);
  weights.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    weights[i] = {values[2 * i], values[2 * i + 1]};
  }
  return weights;
}

/// An integer of 16 bits times an element of E, added up: a product for each of the element's four limbs of 32 bits.
constexpr Operations of_integer{.integer_products = 4, .read = sizeof(std::int16_t)};

void combine_rows(benchmark::State& state, Level level) {
  constexpr std::size_t width = 256;
  const std::size_t count = fitting(level, sizeof(std::int16_t));
  const std::span matrix(some_values<std::int16_t>(count), count);
  const std::vector<E>& weights = some_weights(count / width);
  std::vector<E> sums(width);
  for (auto _ : state) {
    combine_integer_rows<std::int16_t>(weights, matrix, sums);
    benchmark::ClobberMemory();
  }
  report(state, "ns/integer", static_cast<double>(count), level, of_integer);
}
BENCHMARK_CAPTURE(combine_rows, cache, Level::cache)->Name("integers/combine_integer_rows");
BENCHMARK_CAPTURE(combine_rows, memory, Level::memory)->Name("integers/combine_integer_rows, in memory");

void dot_rows(benchmark::State& state, Level level) {
  constexpr std::size_t width = 256;
  const std::size_t count = fitting(level, sizeof(std::int16_t));
  const std::span matrix(some_values<std::int16_t>(count), count);
  const std::vector<E>& weights = some_weights(width);
  std::vector<E> sums(count / width);
  for (auto _ : state) {
    dot_integer_rows<std::int16_t>(weights, matrix, sums);
    benchmark::ClobberMemory();
  }
  // a row's two sums are reduced and added to what is there
  const Operations of_row{.reductions = 2, .additions = 4};
  report(state, "ns/integer", static_cast<double>(count), level, of_integer + 1.0 / width * of_row);
}
BENCHMARK_CAPTURE(dot_rows, cache, Level::cache)->Name("integers/dot_integer_rows");
BENCHMARK_CAPTURE(dot_rows, memory, Level::memory)->Name("integers/dot_integer_rows, in memory");

/// Coefficients of classes far apart, as what a rank encodes is made of them: a piece of each class at a call.
void add_integers(benchmark::State& state) {
  constexpr std::size_t classes = 16, piece = 512;
  const std::size_t count = fitting(Level::cache, classes * sizeof(std::int16_t));
  const auto* const values = some_values<std::int16_t>(classes * count);
  F* const sums = results_of<F>(piece);
  std::vector<ScaledIntegers> terms(classes);
  for (auto _ : state) {
    for (std::size_t first = 0; first < count; first += piece) {
      for (std::size_t i = 0; i < classes; ++i) {
        terms[i] = {reinterpret_cast<const std::byte*>(values + i * count + first), 1U << 15, some_factor().c0};
      }
      add_scaled_integers(terms, piece, sums);
    }
    benchmark::ClobberMemory();
  }
  // the sums of both limbs are joined by a product, and what flips added is taken away
  const Operations of_sum{.field_products = 1, .additions = 3, .read = sizeof(F), .written = sizeof(F)};
  report(state, "ns/integer", static_cast<double>(classes * count), Level::cache,
         Operations{.integer_products = 2, .read = sizeof(std::int16_t)} + 1.0 / classes * of_sum);
}
BENCHMARK(add_integers)->Name("integers/add_scaled_integers");

/// Many tokens: values of 16 bits are taken whole, and a pair of products is a step. Weights are as large as models'
/// are in the mean, which says how often sums are widened.
void panels(benchmark::State& state) {
  constexpr std::size_t in = 512, columns = 64;
  constexpr int smaller = 16;
  const std::size_t rows = 8 * product_panel_rows();
  std::vector<std::int16_t> values(some_values<std::int16_t>(in * columns),
                                   some_values<std::int16_t>(in * columns) + in * columns);
  std::ranges::replace(values, INT16_MIN, INT16_MAX);
  const Digits tokens(std::span<const std::int16_t>(values), in, columns);
  std::vector<std::int16_t> weights(some_values<std::int16_t>(rows * in),
                                    some_values<std::int16_t>(rows * in) + rows * in);
  for (std::int16_t& weight : weights) {
    weight = static_cast<std::int16_t>(weight / smaller);
  }
  std::vector<std::int64_t> products(rows * tokens.padded_columns());
  for (auto _ : state) {
    multiply_digits(weights.data(), rows, tokens, products);
    benchmark::ClobberMemory();
  }
  const double read = sizeof(std::int16_t) / static_cast<double>(product_panel_rows());  // a value for each panel
  report(state, "ns/product", static_cast<double>(rows * in * columns), Level::cache,
         Operations{.pair_products = 0.5, .read = read});
}
BENCHMARK(panels)->Name("products/64 tokens");

/// One token: a value has two digits, hence a product two.
void one_token(benchmark::State& state, Level level) {
  constexpr std::size_t in = 1024;
  const std::size_t rows = fitting(level, in * sizeof(std::int16_t));
  const Digits token(std::span<const std::int16_t>(some_values<std::int16_t>(in), in), in, 1);
  const auto* const weights = some_values<std::int16_t>(rows * in);
  std::vector<std::int64_t> products(rows * token.padded_columns());
  for (auto _ : state) {
    multiply_digits(weights, rows, token, products);
    benchmark::ClobberMemory();
  }
  report(state, "ns/product", static_cast<double>(rows * in), level,
         Operations{.pair_products = 1, .read = sizeof(std::int16_t)});
}
BENCHMARK_CAPTURE(one_token, cache, Level::cache)->Name("products/one token");
BENCHMARK_CAPTURE(one_token, memory, Level::memory)->Name("products/one token, in memory");

}  // namespace
}  // namespace tessera::bench
