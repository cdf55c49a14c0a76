#include <numeric>

#include "layers/logits/logits.hpp"

namespace tessera {

DenseWeights::DenseWeights(const DensePlan& plan, std::span<const std::uint32_t> tokens, std::size_t position,
                           const Point& g)
    : plan_(plan), position_(position), g_(eq_table(g)) {
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    before_.ends.push_back(tokens[row]);
    with_token_.ends.push_back(std::size_t{tokens[row]} + 1);
    before_.scales.push_back(g_[row]);
  }
  with_token_.scales = before_.scales;
}

std::vector<E> DenseWeights::limb(std::size_t i) const {
  std::vector<E> weight(g_.size());
  for (std::size_t row = 0; row < before_.ends.size(); ++row) {
    weight[row] = g_[row] * F::from_canonical(limbs_of(uniform_at(plan_.sampling.seed, position_ + row))[i]);
  }
  return weight;
}

}  // namespace tessera
