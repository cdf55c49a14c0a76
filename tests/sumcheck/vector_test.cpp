#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <random>
#include <tessera/layers/claim_reduction.hpp>
#include <tessera/layers/layer_norm.hpp>
#include <tessera/sumcheck/product_relations.hpp>
#include <tessera/sumcheck/sumcheck_prove.hpp>

namespace tessera {
namespace {

/// A relation without its vector form: scalar code.
template <class R>
struct Scalar {
  R relation;
  [[nodiscard]] std::size_t degree() const { return relation.degree(); }
  [[nodiscard]] std::size_t factors() const { return relation.factors(); }
  E operator()(std::span<const E> v) const { return relation(v); }
};

/// Runs the kernels with one instruction set at a time.
struct VectorRounds : testing::TestWithParam<std::int64_t> {
  void SetUp() override {
    hwy::SetSupportedTargetsForTest(0);
    if ((hwy::SupportedTargets() & GetParam()) == 0) {
      GTEST_SKIP() << "not on this machine";
    }
    hwy::SetSupportedTargetsForTest(GetParam());
    hwy::GetChosenTarget().DeInit();
  }
  void TearDown() override {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
  }

  /// Random elements, edges of the field among them.
  E element() {
    const std::uint64_t edges[] = {0, 1, 0xFFFFFFFFULL, 0x100000000ULL, F::modulus - 1, F::modulus - 0x100000000ULL};
    const auto one = [&] { return random() % 3 == 0 ? edges[random() % 6] : random() % F::modulus; };
    return {F::from_canonical(one()), F::from_canonical(one())};
  }
  std::vector<E> elements(std::size_t count) {
    std::vector<E> result(count);
    for (E& value : result) {
      value = element();
    }
    return result;
  }

  template <class R>
  void expect_scalar_sums(const R& relation) {
    for (const std::size_t pairs : {1U, 4U, 8U, 24U, 64U}) {
      std::vector<std::vector<E>> tables;
      std::vector<E*> pointers;
      for (std::size_t k = 0; k < relation.factors(); ++k) {
        tables.push_back(elements(2 * pairs));
        pointers.push_back(tables.back().data());
      }
      const std::vector<E> weights = elements(pairs);
      for (const std::span<const E> used : {std::span<const E>(weights), std::span<const E>()}) {
        const std::span<E* const> all(pointers);
        EXPECT_EQ(round_sums(relation, all, pairs, used), round_sums(Scalar<R>{relation}, all, pairs, used)) << pairs;
      }
    }
  }

  std::mt19937_64 random{7};
};

TEST_P(VectorRounds, SumsAgreeWithScalarCode) {
  expect_scalar_sums(ProductRelation{});
  expect_scalar_sums(TripleProductRelation{});
  expect_scalar_sums(ReductionRelation{1});
  expect_scalar_sums(ReductionRelation{3});
  expect_scalar_sums(NormRelation{element()});
}

TEST_P(VectorRounds, TheKernelsAreUsedWhereThereAreVectors) {
  std::vector<E> table = elements(32);
  std::vector<E*> pointers{table.data(), table.data()};
  RoundSums sums{};
  EXPECT_EQ(vector_round(ProductRelation{}.vector_form(), pointers, 16, {}, sums), GetParam() != HWY_SCALAR);
  EXPECT_FALSE(vector_round(ProductRelation{}.vector_form(), pointers, 3, {}, sums));
}

TEST_P(VectorRounds, BindingAgreesWithTheLine) {
  for (const std::size_t pairs : {1U, 2U, 8U, 40U}) {
    const std::vector<E> table = elements(2 * pairs);
    const E challenge = element();
    std::vector<E> bound = table;
    bind_lowest(bound.data(), pairs, challenge);
    for (std::size_t x = 0; x < pairs; ++x) {
      EXPECT_EQ(bound[x], table[2 * x] + challenge * (table[2 * x + 1] - table[2 * x])) << pairs << " " << x;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, VectorRounds, testing::Values(HWY_SCALAR, HWY_AVX2, HWY_AVX3));

}  // namespace
}  // namespace tessera
