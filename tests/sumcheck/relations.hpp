#pragma once

#include "sumcheck/round_kernel.hpp"
#include "sumcheck/sumcheck.hpp"

namespace tessera::test {

/// v_0*v_1*..*v_(d-1) + 3*v_0*v_(n-1): degree d (2 at least where n > 1), zero wherever v_0 is.
struct MonomialRelation {
  std::size_t power = 1;
  std::size_t count = 1;
  [[nodiscard]] std::size_t degree() const { return power; }
  [[nodiscard]] std::size_t factors() const { return count; }
  E operator()(const auto& v) const {
    E product = E::one();
    for (std::size_t i = 0; i < power; ++i) {
      product *= v[i % count];
    }
    return power < 2 ? product : product + v[0] * v[count - 1] * F::from_canonical(3);
  }
};
inline RoundKernel round_kernel(const MonomialRelation& relation) { return scalar_kernel(relation); }

/// What transcripts begin with.
inline const Digest transcript_seed = blake2s(std::vector<std::uint8_t>{7});

/// sum_x g(x), or sum_x beta(at, x)*g(x), over tables in the order of the point's variables.
template <Relation R>
E naive_sum(const R& relation, const std::vector<std::vector<E>>& tables, std::span<const E> at = {}) {
  E sum;
  for (std::size_t x = 0; x < tables.front().size(); ++x) {
    std::vector<E> values;
    for (const std::vector<E>& table : tables) {
      values.push_back(table[x]);
    }
    const E weight = at.empty() ? E::one() : eq_index(at, x);
    sum += weight * relation(values);
  }
  return sum;
}

/// The verifier with its caller's final check: whether g of the factors' extensions at the point is the value claimed.
template <Relation R>
bool accepts(const R& relation, const std::vector<std::vector<E>>& tables, std::span<const E> at, E claim,
             std::span<const std::uint8_t> payload) {
  VerifierTranscript transcript(transcript_seed, payload);
  try {
    const std::size_t variables = ceil_log2(tables.front().size());
    const SumcheckResult result = at.empty() ? verify_sumcheck(transcript, claim, variables, relation.degree())
                                             : verify_eq_sumcheck(transcript, claim, at, relation.degree());
    transcript.finish();
    std::vector<E> values;
    for (const std::vector<E>& table : tables) {
      values.push_back(evaluate(table, result.point));
    }
    return relation(values) == result.value;
  } catch (const Rejected&) {
    return false;
  }
}

}  // namespace tessera::test
