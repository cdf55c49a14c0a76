#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <bit>
#include <random>
#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/matrix_product.hpp"
#include "layers/layer_norm/layer_norm.hpp"
#include "layers/value_norm/value_norm.hpp"
#include "sumcheck/product_relations.hpp"
#include "sumcheck/round_kernel.hpp"

#include "counting_relation.hpp"

namespace tessera::test {
namespace {

/// Runs the kernels with one instruction set at a time.
struct VectorRounds : ::testing::TestWithParam<std::int64_t> {
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

  /// Tables of `size` entries for every factor.
  struct Tables {
    std::vector<std::vector<E>> values;
    std::vector<E*> places;
    Tables(VectorRounds& test, std::size_t factors, std::size_t size) {
      for (std::size_t k = 0; k < factors; ++k) {
        values.push_back(test.elements(size));
        places.push_back(values.back().data());
      }
    }
    Tables(const Tables& other) : values(other.values) {
      for (std::vector<E>& table : values) {
        places.push_back(table.data());
      }
    }
  };
  /// No weights, and weights of `pairs` pairs.
  std::vector<RoundWeights> weights_of(std::size_t pairs) {
    std::vector<RoundWeights> choices(1);
    if (std::has_single_bit(pairs)) {
      choices.emplace_back(elements(static_cast<std::size_t>(std::countr_zero(pairs))));
    }
    return choices;
  }

  template <class R>
  void expect_scalar_sums(const R& relation) {
    for (const std::size_t pairs : {1U, 4U, 8U, 24U, 64U, 512U}) {
      const Tables tables(*this, relation.factors(), 2 * pairs);
      for (const RoundWeights& weights : weights_of(pairs)) {
        for (const bool with_one : {false, true}) {
          const RoundRun run{tables.places.data(), pairs, weights, 0, with_one};
          EXPECT_EQ(round_kernel(relation).run(run), scalar_run(relation, run)) << pairs;
        }
      }
    }
  }

  /// A pass that binds, in place or not, and sums against one after the other.
  template <class R>
  void expect_bound_sums(const R& relation) {
    for (const std::size_t pairs : {1U, 4U, 8U, 64U, 1024U}) {
      const Tables tables(*this, relation.factors(), 4 * pairs);
      const E challenge = element();
      Tables expected(*this, relation.factors(), 2 * pairs);
      for (std::size_t k = 0; k < relation.factors(); ++k) {
        for (std::size_t x = 0; x < 2 * pairs; ++x) {
          const E low = tables.values[k][2 * x];
          expected.values[k][x] = low + challenge * (tables.values[k][2 * x + 1] - low);
        }
      }
      for (const RoundWeights& weights : weights_of(pairs)) {
        for (const bool with_one : {false, true}) {
          const RoundSums sums = scalar_run(relation, {expected.places.data(), pairs, weights, 0, with_one});
          Tables in_place = tables;
          EXPECT_EQ(round_kernel(relation).run(
                        {in_place.places.data(), pairs, weights, 0, with_one, in_place.places.data(), challenge}),
                    sums)
              << pairs;
          Tables bound(*this, relation.factors(), 2 * pairs);
          const Tables from = tables;
          EXPECT_EQ(round_kernel(relation).run(
                        {from.places.data(), pairs, weights, 0, with_one, bound.places.data(), challenge}),
                    sums)
              << pairs;
          EXPECT_EQ(from.values, tables.values);
          EXPECT_EQ(bound.values, expected.values);
          for (std::size_t k = 0; k < relation.factors(); ++k) {
            in_place.values[k].resize(2 * pairs);
          }
          EXPECT_EQ(in_place.values, expected.values);
        }
      }
    }
  }

  /// body(relation) for all relations with kernels.
  template <class Body>
  void for_each_relation(const Body& body) {
    body(ProductRelation{});
    body(TripleProductRelation{});
    body(ReductionRelation{1});
    body(ReductionRelation{2});
    body(ReductionRelation{3});
    body(ReductionRelation{4});
    body(MatrixProductRelation{powers(element(), 1)});
    body(MatrixProductRelation{powers(element(), 3)});
    body(TokenRelation{F::from_canonical(768), element()});
    body(CentredGainRelation{});
    body(SquareRelation{});
    body(RootRelation{element()});
    body(ValueNormRelation{element()});
    body(CountingRelation{element()});
  }

  std::mt19937_64 random{7};
};

TEST_P(VectorRounds, sums_agree_with_scalar_code) {
  for_each_relation([&](const auto& relation) { expect_scalar_sums(relation); });
}

TEST_P(VectorRounds, binding_on_the_way_agrees_with_binding_first) {
  for_each_relation([&](const auto& relation) { expect_bound_sums(relation); });
}

/// More products than parts of a sum have room for.
TEST_P(VectorRounds, long_runs_agree_with_scalar_code) {
  for_each_relation([&](const auto& relation) {
    constexpr std::size_t pairs = 1U << 14;
    const Tables tables(*this, relation.factors(), 2 * pairs);
    const RoundRun run{tables.places.data(), pairs, {}, 0, true};
    EXPECT_EQ(round_kernel(relation).run(run), scalar_run(relation, run));
  });
}

/// A long round in blocks: each takes its part of the weights.
TEST_P(VectorRounds, runs_of_a_round_add_up) {
  const std::size_t pairs = 1024;
  const Tables tables(*this, 2, 2 * pairs);
  const RoundWeights weights(elements(10));
  const RoundKernel kernel = round_kernel(ProductRelation{});
  RoundSums sums{};
  for (std::size_t first = 0; first < pairs; first += 512) {
    const std::array<E*, 2> places{tables.places[0] + 2 * first, tables.places[1] + 2 * first};
    sums += kernel.run({places.data(), 512, weights, first, true});
  }
  EXPECT_EQ(sums, scalar_run(ProductRelation{}, {tables.places.data(), pairs, weights, 0, true}));
}

TEST_P(VectorRounds, the_kernels_are_used_where_there_are_vectors) {
  Tables tables(*this, 4, 32);
  const RoundKernel kernel = round_kernel(CountingRelation{element()});
  const auto evaluations = [&](std::size_t pairs) {
    CountingRelation::evaluations = 0;
    (void)kernel.run({tables.places.data(), pairs, {}, 0, true});
    return CountingRelation::evaluations;
  };
  // a build may have left it out
  const bool vectors = GetParam() != HWY_SCALAR && (HWY_TARGETS & GetParam()) != 0;
  EXPECT_EQ(evaluations(16), vectors ? 0 : 3 * 16);
  const bool element_wide = GetParam() == HWY_NEON;  // every number of pairs fills its vectors
  EXPECT_EQ(evaluations(3), vectors && element_wide ? 0 : 3 * 3);
}

/// A false claim would be proven if the last entry of the sums were not the leading coefficient.
TEST_P(VectorRounds, homogeneous_relations_are) {
  for_each_relation([&]<class R>(const R& relation) {
    if constexpr (is_homogeneous<R>()) {
      std::vector<E> v = elements(relation.factors());
      const E before = relation(v);
      const E scale = element();
      for (E& value : v) {
        value *= scale;
      }
      EXPECT_EQ(relation(v), before * powers(scale, relation.degree() + 1).back());
    }
  });
}

TEST_P(VectorRounds, binding_agrees_with_the_line) {
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

INSTANTIATE_TEST_SUITE_P(Targets, VectorRounds,
                         ::testing::Values(HWY_SCALAR, HWY_NEON, HWY_AVX2, HWY_AVX3, HWY_AVX3_DL));

}  // namespace
}  // namespace tessera::test
