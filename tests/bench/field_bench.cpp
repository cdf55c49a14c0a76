#include "field/integer_products.hpp"
#include "field/ntt.hpp"
#include "tensor/contract.hpp"
#include <vector>

#include "../tensor/random_values.hpp"
#include "bench.hpp"

namespace tessera::bench {
namespace {

using test::filled;
using test::RandomElements;

F first_part(const E& value, F /*tag*/) { return value.c0; }
E first_part(const E& value, E /*tag*/) { return value; }

/// Independent products of elements in memory that fits a cache, scalar code: throughput, not latency.
template <class T>
void multiplication(benchmark::State& state) {
  constexpr std::size_t length = 1024;
  constexpr int blocks = 512;
  set_threads(state);
  std::vector<T> factors;
  for (const E& value : RandomElements(1).elements(length)) {
    factors.push_back(first_part(value, T{}));
  }
  for (auto _ : state) {
#pragma omp parallel
    {
      std::vector<T> values = factors;
#pragma omp for schedule(static)
      for (int block = 0; block < blocks; ++block) {
        for (std::size_t i = 0; i < length; ++i) {
          values[i] *= factors[i];
        }
        benchmark::DoNotOptimize(values.data());
        benchmark::ClobberMemory();
      }
    }
  }
  report_nanoseconds(state, "ns/product", double{length} * blocks);
}
BENCHMARK(multiplication<F>)->Name("field/F multiplication")->Apply(each_thread_count);
BENCHMARK(multiplication<E>)->Name("field/E multiplication")->Apply(each_thread_count);

/// Codewords of 64 rows at rate 1/2, as a witness is encoded.
void encoding(benchmark::State& state) {
  constexpr unsigned log_length = 16;
  constexpr std::size_t rows = 64;
  set_threads(state);
  std::vector<F> values(rows << log_length);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = F::from_unsigned(i * 0x9E3779B97F4A7C15U);
  }
  for (auto _ : state) {
    ntt(values, log_length, rows, 1);
    benchmark::ClobberMemory();
  }
  report_nanoseconds(state, "ns/codeword element", static_cast<double>(values.size()));
}
BENCHMARK(encoding)->Name("field/NTT")->Apply(each_thread_count);

/// A pass over the weights of one matrix in four blocks, (block, out, in), int16: the sum over one of its dimensions.
void parameter_pass(benchmark::State& state, std::size_t summed) {
  set_threads(state);
  const Shape shape({Dimension::outer(4), Dimension::tiled(3072), Dimension::tiled(768)});
  SelfCommunicator self;
  const ChunkedTensor<std::int16_t> weights = filled<std::int16_t>(shape, {1}, 1, self);
  std::vector<Axis> axes(3);
  axes[summed] = eq_table(RandomElements(2).elements(shape.dimensions()[summed].bits()));
  for (auto _ : state) {
    benchmark::DoNotOptimize(contract(&weights, shape, axes, self));
  }
  report_nanoseconds(state, "ns/weight", static_cast<double>(weights.values().size()));
}
BENCHMARK_CAPTURE(parameter_pass, outputs, 1)->Name("parameters/sum over outputs")->Apply(each_thread_count);
BENCHMARK_CAPTURE(parameter_pass, inputs, 2)->Name("parameters/sum over inputs")->Apply(each_thread_count);

constexpr std::size_t kernel_rows = 1024;
constexpr std::size_t kernel_width = 256;

std::vector<std::int16_t> kernel_matrix() {
  std::vector<std::int16_t> matrix(kernel_rows * kernel_width);
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    matrix[i] = static_cast<std::int16_t>(i * 40503U);
  }
  return matrix;
}

void combine_rows(benchmark::State& state) {
  const std::vector<std::int16_t> matrix = kernel_matrix();
  const std::vector<E> weights = RandomElements(3).elements(kernel_rows);
  std::vector<E> sums(kernel_width);
  for (auto _ : state) {
    combine_integer_rows<std::int16_t>(weights, matrix, sums);
    benchmark::ClobberMemory();
  }
  report_nanoseconds(state, "ns/weight", static_cast<double>(matrix.size()));
}
BENCHMARK(combine_rows)->Name("parameters/combine_integer_rows")->Apply(one_thread);

void dot_rows(benchmark::State& state) {
  const std::vector<std::int16_t> matrix = kernel_matrix();
  const std::vector<E> weights = RandomElements(3).elements(kernel_width);
  std::vector<E> sums(kernel_rows);
  for (auto _ : state) {
    dot_integer_rows<std::int16_t>(weights, matrix, sums);
    benchmark::ClobberMemory();
  }
  report_nanoseconds(state, "ns/weight", static_cast<double>(matrix.size()));
}
BENCHMARK(dot_rows)->Name("parameters/dot_integer_rows")->Apply(one_thread);

}  // namespace
}  // namespace tessera::bench
