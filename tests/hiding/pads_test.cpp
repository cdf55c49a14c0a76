#include <gtest/gtest.h>

#include "echelon.hpp"
#include "expected_pads.hpp"
#include "plan/prover_context.hpp"
#include "subprotocols/pad_products.hpp"

namespace tessera::test {
namespace {

TEST(Pads, every_element_before_the_opening_has_one) { expect_pads(HidingJob()); }

/// No message of a sampled statement is in clear either.
TEST(Pads, every_element_of_a_sampled_statement_has_one) {
  expect_pads(HidingJob(hiding_model(), {17, 42}, 3, Sampling{1000, 0, top_p_unit, 9000, Digest{8}}));
}

/// What the proof of the products sends, by its own pads and the random pair.
class ProductsProof {
 public:
  static constexpr std::size_t pair = 2;
  explicit ProductsProof(HidingJob& job)
      : job_(job), own_(2 * std::size_t{job.plan.hiding->log_products} + 1), factors_(pads_of(job.plan, Digest{3})) {}

  /// Own pads, then the pair: both coordinates each.
  [[nodiscard]] std::size_t randomness() const { return 2 * (own_ + pair); }

  std::vector<F> sent(std::span<const F> randomness) {
    const HidingPlan& hiding = *job_.plan.hiding;
    const auto element = [&](std::size_t i) { return E{randomness[2 * i], randomness[2 * i + 1]}; };
    std::vector<E> own, left, right;
    for (std::size_t i = 0; i < own_; ++i) {
      own.push_back(element(i));
    }
    for (const auto& [first, second] : hiding.pads.pairs) {
      left.push_back(factors_[first]);
      right.push_back(factors_[second]);
    }
    left.push_back(element(own_));
    right.push_back(element(own_ + 1));
    left.resize(std::size_t{1} << hiding.log_products);
    right.resize(left.size());
    FreezableProver transcript(Digest{5});
    transcript.begin_pads(own);
    ClaimLedger ledger(job_.plan.pass);
    const LookupValues lookup(job_.plan, {});
    ProverContext context{job_.plan, job_.statement, transcript, lookup, ledger, *job_.witness, job_.test.comm};
    prove_pad_products(context, left, right);
    transcript.end_pads();
    std::vector<F> elements;
    for (std::size_t at = 0; at < transcript.payload().size(); at += sizeof(std::uint64_t)) {
      elements.push_back(F::from_canonical(read_little_endian<std::uint64_t>(transcript.payload().data() + at)));
    }
    return elements;
  }

  /// By element; exact, because products are of degree 2.
  std::vector<F> derivative(std::vector<F> randomness, std::size_t element) {
    randomness[element] += F::one();
    std::vector<F> above = sent(randomness);
    randomness[element] -= F::from_canonical(2);
    const std::vector<F> below = sent(randomness);
    for (std::size_t i = 0; i < above.size(); ++i) {
      above[i] = (above[i] - below[i]) * two_to_the_minus(1);
    }
    return above;
  }

 private:
  HidingJob& job_;
  std::size_t own_;
  std::vector<E> factors_;  // all pads
};

/// All that the proof of products sends takes all values, whatever the pads of what came before are; no random element
/// can be spared.
TEST(Pads, proof_of_products_is_as_random_as_what_it_sends) {
  const FrozenChallenges frozen;
  HidingJob job;
  ProductsProof proof(job);
  std::mt19937_64 random(1);
  for (std::size_t point = 0; point < 3; ++point) {
    std::vector<F> at(proof.randomness());
    std::ranges::generate(at, [&] { return F::from_unsigned(random()); });
    Echelon span;
    for (std::size_t i = 0; i < at.size(); ++i) {
      EXPECT_TRUE(span.add(proof.derivative(at, i))) << "element " << i << " hides nothing";
    }
    EXPECT_EQ(span.rank(), proof.sent(at).size());
  }
}

}  // namespace
}  // namespace tessera::test
