#include <vector>

#include "arithmetic/integer_product.hpp"
#include "bench.hpp"

namespace tessera::bench {
namespace {

/// Weights of a layer times a batch of tokens in float64, each thread its rows: what exact products are made of.
void products(benchmark::State& state) {
  constexpr std::size_t rows = 3072, width = 768, tokens = 512;
  const int threads = static_cast<int>(state.range(0));
  set_threads(state);
  use_single_threaded_blas();
  const std::vector<double> weights(rows * width, 3.0);
  const std::vector<double> inputs(width * tokens, 5.0);
  std::vector<double> results(rows * tokens);
  for (auto _ : state) {
#pragma omp parallel for schedule(static)
    for (int thread = 0; thread < threads; ++thread) {
      const std::size_t first = rows * static_cast<std::size_t>(thread) / static_cast<std::size_t>(threads);
      const std::size_t last = rows * static_cast<std::size_t>(thread + 1) / static_cast<std::size_t>(threads);
      multiply_real(Transpose::none, last - first, tokens, width, {weights.data() + first * width, width},
                    {inputs.data(), tokens}, std::span(results).subspan(first * tokens, (last - first) * tokens));
    }
    benchmark::DoNotOptimize(results.data());
  }
  report_nanoseconds(state, "ns/product", static_cast<double>(rows * width * tokens));
}
BENCHMARK(products)->Name("inference/products")->Apply(each_thread_count);

}  // namespace
}  // namespace tessera::bench
