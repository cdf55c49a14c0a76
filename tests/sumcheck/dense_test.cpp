#include <gtest/gtest.h>

#include "sumcheck/dense.hpp"

#include "../tensor/random_values.hpp"
#include "relations.hpp"

namespace tessera::test {
namespace {

struct Case {
  MonomialRelation relation;
  std::vector<std::vector<E>> tables;
  Point at;  // empty: plain form
};

std::vector<Case> cases() {
  RandomElements random(11);
  std::vector<Case> result;
  for (unsigned variables = 0; variables <= 5; ++variables) {
    for (std::size_t degree = 1; degree <= max_degree; ++degree) {
      for (const std::size_t count : {degree, std::size_t{1}, degree + 2}) {
        Case plain{{degree, count}, {}, {}};
        for (std::size_t k = 0; k < count; ++k) {
          plain.tables.push_back(random.elements(std::size_t{1} << variables));
        }
        Case with_eq = plain;
        with_eq.at = random.elements(variables);
        Case at_a_corner = plain;  // h(1) does not follow from the claim where a coordinate is 0
        at_a_corner.at.assign(variables, E::zero());
        if (variables > 1) {
          at_a_corner.at[1] = E::one();
        }
        result.push_back(std::move(plain));
        result.push_back(std::move(with_eq));
        result.push_back(std::move(at_a_corner));
      }
    }
  }
  return result;
}

TEST(DenseSumcheck, the_sum_over_the_cube_is_accepted_and_ends_at_the_factors_values) {
  for (const Case& c : cases()) {
    const E claim = naive_sum(c.relation, c.tables, c.at);
    ProverTranscript prover(transcript_seed);
    const ProvenSumcheck proven = prove_dense_sumcheck(prover, round_kernel(c.relation), c.tables, c.at);
    const unsigned variables = ceil_log2(c.tables.front().size());
    EXPECT_EQ(prover.payload().size(), variables * c.relation.degree() * sizeof(E));
    EXPECT_TRUE(accepts(c.relation, c.tables, c.at, claim, prover.payload()));
    EXPECT_FALSE(accepts(c.relation, c.tables, c.at, claim + E::one(), prover.payload()));

    VerifierTranscript verifier(transcript_seed, prover.payload());
    const SumcheckResult result = c.at.empty() ? verify_sumcheck(verifier, claim, variables, c.relation.degree())
                                               : verify_eq_sumcheck(verifier, claim, c.at, c.relation.degree());
    EXPECT_EQ(result.point, proven.point);
    ASSERT_EQ(proven.factors.size(), c.tables.size());
    for (std::size_t k = 0; k < c.tables.size(); ++k) {
      EXPECT_EQ(proven.factors[k], evaluate(c.tables[k], proven.point));
    }
    EXPECT_EQ(verifier.challenge("after"), prover.challenge("after"));
  }
}

TEST(DenseSumcheck, every_altered_message_fails_the_final_check) {
  for (const Case& c : cases()) {
    const E claim = naive_sum(c.relation, c.tables, c.at);
    ProverTranscript prover(transcript_seed);
    (void)prove_dense_sumcheck(prover, round_kernel(c.relation), c.tables, c.at);
    for (std::size_t word = 0; word < prover.payload().size() / 8; ++word) {
      std::vector<std::uint8_t> altered = prover.payload();
      altered[8 * word] ^= 1;
      EXPECT_FALSE(accepts(c.relation, c.tables, c.at, claim, altered)) << word;
    }
  }
}

TEST(DenseSumcheck, a_wrong_table_entry_fails) {
  for (const Case& c : cases()) {
    if (c.tables.front().size() == 1) {
      continue;  // nothing is sent
    }
    const E claim = naive_sum(c.relation, c.tables, c.at);
    std::vector<std::vector<E>> wrong = c.tables;
    wrong.front().back() += E::one();
    ProverTranscript prover(transcript_seed);
    (void)prove_dense_sumcheck(prover, round_kernel(c.relation), wrong, c.at);
    EXPECT_FALSE(accepts(c.relation, c.tables, c.at, claim, prover.payload()));
  }
}

TEST(RoundPolynomial, higher_coefficients_interpolate) {
  RandomElements random(12);
  for (std::size_t degree = 1; degree <= max_degree; ++degree) {
    const std::vector<E> coefficients = random.elements(degree + 1);
    const auto value = [&](E at) {
      E sum;
      for (std::size_t i = degree + 1; i-- > 0;) {
        sum = sum * at + coefficients[i];
      }
      return sum;
    };
    std::vector<E> values;
    for (std::size_t i = 0; i <= degree; ++i) {
      values.push_back(value(E::from_unsigned(i)));
    }
    const std::vector<E> higher = higher_coefficients(values);
    EXPECT_EQ(higher, std::vector<E>(coefficients.begin() + 1, coefficients.end()));
    std::vector<E> with_leading = values;
    with_leading.back() = coefficients.back();
    EXPECT_EQ(higher_coefficients(with_leading, true), higher);
    const E a = random.element();
    const E at = random.element();
    const E claim = (E::one() - a) * values[0] + a * values[1];
    EXPECT_EQ(round_value(claim, a, higher, at), value(at));
  }
}

TEST(RoundPolynomial, terms_are_the_relation_on_lines) {
  RandomElements random(13);
  const MonomialRelation relation{3, 4};
  const std::vector<E> low = random.elements(4);
  const std::vector<E> high = random.elements(4);
  const E weight = random.element();
  RoundSums sums{};
  sums[1] = E::one();
  add_round_terms(relation, low, high, weight, true, sums);
  for (std::size_t at = 0; at <= 3; ++at) {
    std::vector<E> values;
    for (std::size_t k = 0; k < 4; ++k) {
      values.push_back(low[k] + (high[k] - low[k]) * F::from_unsigned(at));
    }
    EXPECT_EQ(sums[at], weight * relation(values) + (at == 1 ? E::one() : E::zero()));
  }
}

}  // namespace
}  // namespace tessera::test
