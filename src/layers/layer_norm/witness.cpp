#include "layers/layer_norm/layer_norm.hpp"
#include "plan/witness.hpp"

namespace tessera {
namespace {

/// Sums over features of x and x^2 per token, of all ranks.
struct TokenSums {
  std::vector<std::int64_t> sum, square_sum;
};

TokenSums token_sums(const ChunkedTensor<std::int32_t>& x, const LayerNormPlan& norm, Communicator& comm) {
  const std::size_t tokens = norm.token.dimensions().back().chunk();
  TokenSums sums{std::vector<std::int64_t>(norm.token.chunk_count() * tokens), {}};
  sums.square_sum.resize(sums.sum.size());
  const bool blocks = norm.activation.dimensions().size() == 3;
  for (const std::size_t chunk : x.held()) {
    const std::size_t block = blocks ? norm.activation.coordinate(chunk, 0) : 0;
    const std::span<const std::int32_t> values = x.chunk(chunk);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t value = values[i];
      sums.sum[block * tokens + i % tokens] += value;
      sums.square_sum[block * tokens + i % tokens] += value * value;
    }
  }
  comm.all_reduce_sum(std::span(sums.sum));
  comm.all_reduce_sum(std::span(sums.square_sum));
  return sums;
}

}  // namespace

void derive(Witness& witness, const LayerNormPlan& norm, Communicator& comm) {
  const TokenSums sums = token_sums(witness[norm.x], norm, comm);
  const auto d = static_cast<std::int64_t>(norm.features);
  const auto& mu_of = witness[norm.mu].values();
  const auto& sigma_of = witness[norm.sigma].values();
  const auto& inverse_of = witness[norm.inverse].values();
  auto& mean_remainder = witness[norm.mean_remainder].values();
  auto& mean_complement = witness[norm.mean_complement].values();
  auto& root_remainder = witness[norm.root_remainder].values();
  auto& root_complement = witness[norm.root_complement].values();
  auto& inverse_remainder = witness[norm.inverse_remainder].values();
  auto& inverse_complement = witness[norm.inverse_complement].values();
  auto& square_sum = witness[norm.square_sum].values();
  for (std::size_t i = 0; i < sums.sum.size(); ++i) {
    const std::int64_t mu = mu_of[i];
    const std::int64_t sigma = sigma_of[i];
    square_sum[i] = sums.square_sum[i];
    mean_remainder[i] = sums.sum[i] + d / 2 - d * mu;
    mean_complement[i] = d - 1 - mean_remainder[i];
    // wrapping: single terms exceed 64 bits, V does not
    const std::uint64_t v = static_cast<std::uint64_t>(sums.square_sum[i]) -
                            2 * static_cast<std::uint64_t>(mu) * static_cast<std::uint64_t>(sums.sum[i]) +
                            static_cast<std::uint64_t>(d) * static_cast<std::uint64_t>(mu * mu) +
                            static_cast<std::uint64_t>(norm.epsilon);
    root_remainder[i] = static_cast<std::int64_t>(v - static_cast<std::uint64_t>(sigma * sigma));
    root_complement[i] = 2 * sigma - root_remainder[i];
    inverse_remainder[i] = norm.norm_numerator - inverse_of[i] * sigma;
    inverse_complement[i] = sigma - 1 - inverse_remainder[i];
  }
}

}  // namespace tessera
