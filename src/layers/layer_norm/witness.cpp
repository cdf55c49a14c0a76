#include "layers/layer_norm/layer_norm.hpp"
#include "plan/witness.hpp"

namespace tessera {

void derive(Witness& witness, const LayerNormPlan& norm, Communicator& comm) {
  const TokenSums sums = token_sums(witness[norm.x], norm, comm);
  const auto d = static_cast<std::int64_t>(norm.features);
  const auto& mu_of = witness[norm.mu].values();
  auto& mean_remainder = witness[norm.mean_remainder].values();
  auto& mean_complement = witness[norm.mean_complement].values();
  auto& square_sum = witness[norm.square_sum].values();
  std::vector<std::uint64_t> variance(sums.sum.size());
  for (std::size_t i = 0; i < variance.size(); ++i) {
    const std::int64_t mu = mu_of[i];
    square_sum[i] = sums.square_sum[i];
    mean_remainder[i] = sums.sum[i] + d / 2 - d * mu;
    mean_complement[i] = d - 1 - mean_remainder[i];
    // wrapping: single terms exceed 64 bits, V does not
    variance[i] = static_cast<std::uint64_t>(sums.square_sum[i]) -
                  2 * static_cast<std::uint64_t>(mu) * static_cast<std::uint64_t>(sums.sum[i]) +
                  static_cast<std::uint64_t>(d) * static_cast<std::uint64_t>(mu * mu) +
                  static_cast<std::uint64_t>(norm.epsilon);
  }
  derive(witness, norm, norm.norm_numerator, variance);
}

}  // namespace tessera
