#include "tensor/claim.hpp"

#include <cassert>

namespace tessera {

Factor Factor::ones(unsigned bits) { return {{E(two_to_the(bits))}, Point(bits, E(F::from_canonical(2).inverse()))}; }

Factor Factor::one_hot(unsigned bits, std::size_t index) {
  Factor factor{{E::one()}, Point(bits)};
  for (unsigned i = 0; i < bits; ++i) {
    factor.tail[i] = E::from_unsigned((index >> (bits - 1 - i)) & 1);
  }
  return factor;
}

unsigned Factor::bits() const { return ceil_log2(head.size()) + static_cast<unsigned>(tail.size()); }

E Factor::evaluate(std::span<const E> point) const {
  const unsigned head_bits = ceil_log2(head.size());
  assert(point.size() == head_bits + tail.size());
  return tessera::evaluate(head, point.first(head_bits)) * eq(tail, point.subspan(head_bits));
}

std::vector<E> Factor::table() const { return outer_product(head, eq_table(tail)); }

std::vector<Factor> weight_at(const TensorPoint& point) {
  std::vector<Factor> weight;
  weight.reserve(point.size());
  for (const Point& coordinates : point) {
    weight.push_back(Factor::at(coordinates));
  }
  return weight;
}

E evaluate_weight(std::span<const Factor> weight, const TensorPoint& point) {
  assert(weight.size() == point.size());
  E result = E::one();
  for (std::size_t j = 0; j < weight.size(); ++j) {
    result *= weight[j].evaluate(point[j]);
  }
  return result;
}

}  // namespace tessera
