#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include "float_model/float_model.hpp"

namespace tessera {
namespace {

constexpr double temperature = 0.9;
constexpr std::size_t likeliest = 100;  // ties by lower id
constexpr std::uint64_t sampling_seed = 20240229;

/// Inverse of the cumulative distribution at `uniform` in [0, 1), over the likeliest tokens in descending order.
std::uint32_t choose(std::span<const float> logits, double uniform) {
  std::vector<std::uint32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0U);
  const std::size_t top = std::min(likeliest, order.size());
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(top), order.end(),
      [&](std::uint32_t a, std::uint32_t b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; });
  order.resize(top);
  std::vector<double> cumulative;
  double sum = 0;
  for (const std::uint32_t token : order) {
    sum += std::exp((static_cast<double>(logits[token]) - logits[order.front()]) / temperature);
    cumulative.push_back(sum);
  }
  const auto found = std::upper_bound(cumulative.begin(), cumulative.end() - 1, uniform * sum);
  return order[static_cast<std::size_t>(found - cumulative.begin())];
}

}  // namespace

std::vector<std::vector<std::uint32_t>> sample_sequences(const SingleTransformer& model,
                                                         std::span<const std::uint32_t> starts, std::size_t length) {
  const std::size_t vocabulary = model.shape().n_vocab;
  const std::size_t count = starts.size();
  std::mt19937_64 generator(sampling_seed);
  std::vector<SingleTransformer::Cache> caches(count, SingleTransformer::Cache(model.shape(), length));
  std::vector<std::uint32_t> last(starts.begin(), starts.end());
  std::vector<std::vector<std::uint32_t>> sequences;
  for (const std::uint32_t start : starts) {
    sequences.push_back({start});
  }
  for (std::size_t step = 1; step < length; ++step) {
    const std::vector<float> logits = model.logits(model.extend(caches, last));
    // std::uniform_real_distribution differs between standard libraries.
    std::vector<double> uniform(count);
    std::ranges::generate(uniform, [&] { return static_cast<double>(generator() >> 11U) * 0x1p-53; });
#pragma omp parallel for schedule(dynamic)
    for (std::size_t s = 0; s < count; ++s) {
      last[s] = choose({logits.data() + s * vocabulary, vocabulary}, uniform[s]);
      sequences[s].push_back(last[s]);
    }
  }
  return sequences;
}

}  // namespace tessera
