#include <tessera/sumcheck/sumcheck_prove.hpp>

namespace tessera {

std::vector<E> higher_coefficients(std::span<const E> values) {
  // Newton's forward differences at 0 .. degree, then expanded to monomials
  const std::size_t degree = values.size() - 1;
  std::vector<E> differences(values.begin(), values.end());
  for (std::size_t order = 1; order <= degree; ++order) {
    const F inverse = F::from_unsigned(order).inverse();
    for (std::size_t i = degree; i >= order; --i) {
      differences[i] = (differences[i] - differences[i - 1]) * inverse;
    }
  }
  std::vector<E> coefficients{differences[degree]};
  for (std::size_t i = degree; i-- > 0;) {
    // coefficients := coefficients*(X - i) + differences[i]
    coefficients.push_back(E::zero());
    const F node = F::from_unsigned(i);
    for (std::size_t k = coefficients.size() - 1; k > 0; --k) {
      coefficients[k] = coefficients[k - 1] - coefficients[k] * node;
    }
    coefficients[0] = differences[i] - coefficients[0] * node;
  }
  return {coefficients.begin() + 1, coefficients.end()};
}

}  // namespace tessera
