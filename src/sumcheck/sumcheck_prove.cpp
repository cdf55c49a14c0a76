#include "sumcheck/sumcheck_prove.hpp"

namespace tessera {

std::vector<E> higher_coefficients(std::span<const E> values, bool ends_in_leading) {
  // Newton's divided differences at 0, 1, .., of which the leading coefficient is the last, then expanded to monomials
  const std::size_t degree = values.size() - 1;
  const std::size_t last = ends_in_leading ? degree - 1 : degree;
  std::vector<E> differences(values.begin(), values.end());
  for (std::size_t order = 1; order <= last; ++order) {
    const F inverse = F::from_unsigned(order).inverse();
    for (std::size_t i = last; i >= order; --i) {
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

E SumcheckProver::round(std::optional<E> a, const RoundWork& work) {
  const bool with_one = !claim_ || a == E::zero();
  RoundSums sums = challenge_ ? summand_.bind(*challenge_, with_one) : summand_.first(with_one);
  if (!with_one) {
    // claim = (1-a)*h(0) + a*h(1), or h(0) + h(1)
    sums[1] = a ? (*claim_ - (E::one() - *a) * sums[0]) * a->inverse() : *claim_ - sums[0];
  }
  const std::span<const E> values = std::span(sums).first(summand_.degree() + 1);
  const std::vector<E> coefficients = higher_coefficients(values, summand_.homogeneous());
  transcript_.send("round", coefficients);
  if (work.bits > 0) {
    transcript_.grind("work", work.bits, *work.comm);
  }
  challenge_ = transcript_.challenge("bind");
  E value;
  for (std::size_t i = coefficients.size(); i-- > 0;) {
    value = (value + coefficients[i]) * *challenge_;
  }
  claim_ = value + sums[0];
  return *challenge_;
}

void SumcheckProver::settle() {
  if (challenge_) {
    summand_.end(*challenge_);
    challenge_.reset();
  }
}

Point prove_rounds(ProverTranscript& transcript, Summand& summand, std::size_t variables, std::span<const E> at,
                   std::optional<E> claim) {
  SumcheckProver prover(transcript, summand, claim);
  Point point(variables);
  for (std::size_t i = variables; i-- > 0;) {
    point[i] = prover.round(at.empty() ? std::optional<E>{} : at[i]);
  }
  prover.settle();
  return point;
}

}  // namespace tessera
