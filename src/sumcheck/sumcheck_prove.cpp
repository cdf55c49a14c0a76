#include "sumcheck/sumcheck_prove.hpp"

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

E RunningClaim::send_round(ProverTranscript& transcript, std::span<E> values, bool leading, std::optional<E> a) {
  if (!needs_one(a)) {
    // claim = (1-a)*h(0) + a*h(1), or h(0) + h(1)
    values[1] = a ? (*claim_ - (E::one() - *a) * values[0]) * a->inverse() : *claim_ - values[0];
  }
  if (leading) {
    // the difference of order D, sum_i (-1)^(D-i)*binomial(D, i)*h(i), is D! times the leading coefficient
    const std::size_t degree = values.size() - 1;
    F factorial = F::one();
    F binomial = F::one();
    E sum;
    for (std::size_t i = degree; i-- > 0;) {
      factorial *= F::from_unsigned(degree - i);
      binomial *= F::from_unsigned(i + 1) * F::from_unsigned(degree - i).inverse();
      sum += ((degree - i) % 2 == 0 ? values[i] : -values[i]) * binomial;
    }
    values[degree] = values[degree] * factorial - sum;
  }
  const std::vector<E> coefficients = higher_coefficients(values);
  transcript.send("round", coefficients);
  const E challenge = transcript.challenge("bind");
  E value;
  for (std::size_t i = coefficients.size(); i-- > 0;) {
    value = (value + coefficients[i]) * challenge;
  }
  claim_ = value + values[0];
  return challenge;
}

OwnedChunks::OwnedChunks(const Shape& shape, const Ownership& ownership, std::size_t factors, const Communicator& comm)
    : factors_(factors) {
  for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
    if (ownership.owner(shape, chunk, comm.size()) == comm.rank()) {
      chunks_.push_back(chunk);
    }
  }
  size_ = shape.chunk_size();
  values_.resize(chunks_.size() * factors_ * size_);
  for (std::size_t i = 0; i < chunks_.size() * factors_; ++i) {
    tables_.push_back(values_.data() + i * size_);
  }
}

void OwnedChunks::fill(std::size_t i, std::span<const ChunkedFactor> factors) const {
  for (std::size_t k = 0; k < factors_; ++k) {
    factors[k].fill(chunks_[i], std::span(tables_[i * factors_ + k], size_));
  }
}

void OwnedChunks::bind_last(E challenge) {
  for (E* table : tables_) {
    bind_lowest(table, table, 1, challenge);
  }
}

std::vector<std::vector<E>> outer_tables(const Shape& shape, const OwnedChunks& chunks,
                                         std::span<const ChunkedFactor> factors, std::span<const E> inner_point,
                                         Communicator& comm) {
  std::vector<std::vector<E>> tables(factors.size());
  for (std::size_t k = 0; k < factors.size(); ++k) {
    if (factors[k].outer) {
      tables[k] = factors[k].outer(inner_point);
      continue;
    }
    tables[k].resize(std::size_t{1} << shape.outer_bits());
    for (std::size_t i = 0; i < chunks.count(); ++i) {
      tables[k][shape.outer_index(chunks.chunk(i))] = *chunks.tables(i)[k];
    }
    comm.all_reduce_sum(tables[k]);
  }
  return tables;
}

}  // namespace tessera
