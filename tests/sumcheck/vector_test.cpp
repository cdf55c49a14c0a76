#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <bit>
#include <random>
#include "subprotocols/claim_reduction.hpp"
#include "layers/layer_norm/layer_norm.hpp"
#include "sumcheck/product_relations.hpp"
#include "sumcheck/sumcheck_prove.hpp"

namespace tessera {
namespace {

/// A relation without its vector form: scalar code.
template <class R>
struct Scalar {
  static constexpr bool homogeneous = is_homogeneous<R>();
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
      std::vector<RoundWeights> choices(1);
      if (std::has_single_bit(pairs)) {
        choices.emplace_back(elements(static_cast<std::size_t>(std::countr_zero(pairs))));
      }
      const std::span<E* const> all(pointers);
      for (const RoundWeights& weights : choices) {
        for (const bool with_one : {false, true}) {
          EXPECT_EQ(round_sums(relation, all, pairs, weights, with_one),
                    round_sums(Scalar<R>{relation}, all, pairs, weights, with_one))
              << pairs;
        }
      }
    }
  }

  /// A pass that binds and sums against one after the other.
  template <class R>
  void expect_bound_sums(const R& relation) {
    for (const std::size_t pairs : {1U, 4U, 8U, 64U, 1024U}) {
      for (const bool with_one : {false, true}) {
        std::vector<std::vector<E>> tables;
        std::vector<std::vector<E>> expected;
        std::vector<E*> pointers;
        std::vector<E*> expected_pointers;
        const E challenge = element();
        for (std::size_t k = 0; k < relation.factors(); ++k) {
          tables.push_back(elements(4 * pairs));
          expected.emplace_back();
          for (std::size_t x = 0; x < 2 * pairs; ++x) {
            const E low = tables.back()[2 * x];
            expected.back().push_back(low + challenge * (tables.back()[2 * x + 1] - low));
          }
        }
        for (std::size_t k = 0; k < relation.factors(); ++k) {
          pointers.push_back(tables[k].data());
          expected_pointers.push_back(expected[k].data());
        }
        const RoundWeights weights(elements(static_cast<std::size_t>(std::countr_zero(pairs))));
        EXPECT_EQ(bind_round(relation, std::span<E* const>(pointers), pairs, challenge, weights, with_one),
                  round_sums(Scalar<R>{relation}, std::span<E* const>(expected_pointers), pairs, weights, with_one))
            << pairs;
        for (std::size_t k = 0; k < relation.factors(); ++k) {
          tables[k].resize(2 * pairs);
          EXPECT_EQ(tables[k], expected[k]);
        }
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

TEST_P(VectorRounds, BindingOnTheWayAgreesWithBindingFirst) {
  expect_bound_sums(ProductRelation{});
  expect_bound_sums(ReductionRelation{3});
  expect_bound_sums(NormRelation{element()});
}

TEST_P(VectorRounds, TheKernelsAreUsedWhereThereAreVectors) {
  std::vector<E> table = elements(32);
  std::vector<E*> pointers{table.data(), table.data()};
  RoundSums sums{};
  EXPECT_EQ(vector_round(ProductRelation{}.vector_form(), pointers, 16, {}, true, sums), GetParam() != HWY_SCALAR);
  std::vector<E> bound(16);
  EXPECT_EQ(vector_bind_products(table.data(), table.data(), bound.data(), bound.data(), 8, E::one(), {}, sums),
            GetParam() != HWY_SCALAR);
  EXPECT_FALSE(vector_round(ProductRelation{}.vector_form(), pointers, 3, {}, true, sums));
}

TEST_P(VectorRounds, BindingAgreesWithTheLine) {
  for (const std::size_t pairs : {1U, 2U, 8U, 40U}) {
    const std::vector<E> table = elements(2 * pairs);
    const E challenge = element();
    std::vector<E> bound = table;
    bind_lowest(bound.data(), bound.data(), pairs, challenge);
    for (std::size_t x = 0; x < pairs; ++x) {
      EXPECT_EQ(bound[x], table[2 * x] + challenge * (table[2 * x + 1] - table[2 * x])) << pairs << " " << x;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, VectorRounds, testing::Values(HWY_SCALAR, HWY_AVX2, HWY_AVX3));

}  // namespace
}  // namespace tessera
