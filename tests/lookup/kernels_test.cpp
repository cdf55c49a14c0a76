#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cstring>
#include "lookup/fraction_tree.hpp"
#include "lookup/scalar_kernels.hpp"

#include "instance.hpp"

namespace tessera::test {
namespace {

/// Runs the kernels with one instruction set at a time.
struct Kernels : testing::TestWithParam<std::int64_t> {
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
  std::uint64_t element() {
    const std::uint64_t edges[] = {0, 1, 0xFFFFFFFFULL, 0x100000000ULL, F::modulus - 1, F::modulus - 0x100000000ULL};
    return random() % 3 == 0 ? edges[random() % 6] : random() % F::modulus;
  }
  E extension() { return {F::from_canonical(element()), F::from_canonical(element())}; }
  template <class Block>
  std::vector<Block> random_blocks(std::size_t count) {
    std::vector<Block> blocks(count);
    for (Block& block : blocks) {
      for (auto& row : block.row) {
        for (std::uint64_t& value : row) {
          value = element();
        }
      }
    }
    return blocks;
  }
  std::vector<WeightBlock> random_weights(std::size_t count) {
    std::vector<WeightBlock> weights(count);
    for (std::size_t i = 0; i < count * block_lanes; ++i) {
      store_weight(weights.data(), i, extension());
    }
    return weights;
  }

  template <class Block>
  static void expect_same(const std::vector<Block>& a, const std::vector<Block>& b) {
    EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(Block)), 0);
  }
  static void expect_same(const NodeSums& a, const NodeSums& b) {
    EXPECT_EQ(a.at_zero, b.at_zero);
    EXPECT_EQ(a.leading, b.leading);
  }

  std::mt19937_64 random{11};
};

TEST_P(Kernels, nodes_of_denominators_agree_with_scalar_code) {
  for (int round = 0; round < 50; ++round) {
    const auto in = random_blocks<DenominatorsBlock>(4);
    const E challenge = extension(), shift = extension(), tau = extension();
    std::vector<ChildrenBlock> out(2);
    std::vector<ChildrenBlock> expected(2);
    denominators_to_nodes(in.data(), out.data(), challenge, shift, tau, 16);
    scalar::denominators_to_nodes(in.data(), expected.data(), challenge, shift, tau, 16);
    expect_same(out, expected);
  }
}

TEST_P(Kernels, weights_agree_with_scalar_code) {
  for (const std::size_t size : {1, 2, 4, 8, 64}) {
    for (const std::size_t present : {0, 1, 7, 8, 13, 32}) {
      std::vector<E> left(9);
      std::vector<E> right(size);
      std::ranges::generate(left, [&] { return extension(); });
      std::ranges::generate(right, [&] { return extension(); });
      std::vector<std::uint64_t> indices(32, 0);
      std::generate_n(indices.begin(), present, [&] { return random() % (left.size() * right.size()); });
      std::vector<WeightBlock> weights(4);
      std::vector<WeightBlock> expected(4);
      EXPECT_EQ(put_weights({left, right}, indices.data(), present, 32, weights.data()),
                scalar::put_weights({left, right}, indices.data(), present, 32, expected.data()));
      expect_same(weights, expected);
    }
  }
}

TEST_P(Kernels, nodes_agree_with_scalar_code) {
  for (int round = 0; round < 200; ++round) {
    auto in = random_blocks<ChildrenBlock>(4);
    const auto weights = random_weights(2);
    const E challenge = extension();
    std::vector<ChildrenBlock> out(2);
    std::vector<ChildrenBlock> expected(2);
    combine_children(in.data(), out.data(), 16);
    scalar::combine_children(in.data(), expected.data(), 16);
    expect_same(out, expected);
    expect_same(bind_round(in.data(), out.data(), weights.data(), challenge, 16),
                scalar::bind_round(in.data(), expected.data(), weights.data(), challenge, 16));
    expect_same(out, expected);
    auto in_place = in;
    bind_children(in_place.data(), in_place.data(), challenge, 16);
    in_place.resize(2);
    expect_same(in_place, expected);
    auto copy = in;
    expect_same(first_round(in.data(), weights.data(), challenge, 16),
                scalar::first_round(copy.data(), weights.data(), challenge, 16));
    expect_same(in, copy);
    const auto denominators = random_blocks<DenominatorsBlock>(4);
    std::vector<DenominatorsBlock> bound(2);
    std::vector<DenominatorsBlock> expected_bound(2);
    expect_same(
        denominators_bind_round(denominators.data(), bound.data(), weights.data(), challenge, 16),
        scalar::denominators_bind_round(denominators.data(), expected_bound.data(), weights.data(), challenge, 16));
    expect_same(bound, expected_bound);
  }
}

/// More products than parts of a sum have room for.
TEST_P(Kernels, long_sums_agree_with_scalar_code) {
  constexpr std::size_t count = 1U << 16;
  auto in = random_blocks<ChildrenBlock>(count / 4);
  const auto denominators = random_blocks<DenominatorsBlock>(count / 4);
  const auto weights = random_weights(count / 8);
  const E challenge = extension();
  std::vector<ChildrenBlock> out(count / 8);
  std::vector<DenominatorsBlock> bound(count / 8);
  expect_same(bind_round(in.data(), out.data(), weights.data(), challenge, count),
              scalar::bind_round(in.data(), out.data(), weights.data(), challenge, count));
  expect_same(denominators_bind_round(denominators.data(), bound.data(), weights.data(), challenge, count),
              scalar::denominators_bind_round(denominators.data(), bound.data(), weights.data(), challenge, count));
  auto copy = in;
  expect_same(first_round(in.data(), weights.data(), challenge, count),
              scalar::first_round(copy.data(), weights.data(), challenge, count));
  const std::vector<std::uint16_t> integers(4 * 2 * count, 0xFFFF);
  const LeafIntegers leaves{.narrow = integers.data()};
  const LeafCode code{extension(), extension()};
  expect_same(leaf_first_round(leaves, code, weights.data(), count),
              scalar::leaf_first_round(leaves, code, weights.data(), count));
}

TEST_P(Kernels, leaves_agree_with_scalar_code) {
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint32_t> wide(64);
    std::vector<std::uint16_t> narrow(64);
    std::vector<std::int32_t> b(64);
    for (std::size_t i = 0; i < wide.size(); ++i) {
      wide[i] = static_cast<std::uint32_t>(random() >> (round % 2 == 0 ? 33 : 48));
      narrow[i] = static_cast<std::uint16_t>(random());
      b[i] = static_cast<std::int32_t>(random());
    }
    std::vector<std::int16_t> narrow_b(64);
    std::ranges::transform(b, narrow_b.begin(), [](std::int32_t value) { return static_cast<std::int16_t>(value); });
    narrow_b[3] = INT16_MIN;
    narrow_b[4] = INT16_MAX;
    b[3] = INT32_MIN;
    b[4] = INT32_MAX;
    wide[0] = 0;
    wide[2] = 0x7FFFFFFF;
    wide[3] = 0x7FFFFFFF;
    narrow[0] = 0;
    narrow[2] = 0xFFFF;
    const auto weights = random_weights(2);
    const E challenge = extension();
    const LeafCode code{extension(), extension()};
    // signed values, which are looked up with an offset
    constexpr std::uint32_t offset = 1U << 17;
    std::vector<std::uint32_t> lower(64);
    std::ranges::transform(wide, lower.begin(), [](std::uint32_t value) { return value - offset; });
    const LeafIntegers wide_signed{.wide = lower.data(), .added = offset};
    const LeafIntegers narrow_signed{.narrow = narrow.data(), .added = 1U << 15};
    for (std::size_t i = 0; i < wide.size(); ++i) {
      EXPECT_EQ(wide_signed.from(i).a(0), wide[i]);
      EXPECT_EQ(narrow_signed.a(i), static_cast<std::uint32_t>(static_cast<std::int16_t>(narrow[i]) + (1 << 15)));
    }
    LeafIntegers wide_signed_pairs = wide_signed, narrow_signed_pairs = narrow_signed;
    wide_signed_pairs.wide_b = b.data();
    narrow_signed_pairs.narrow_b = narrow_b.data();
    for (const LeafIntegers& leaves :
         {LeafIntegers{.wide = wide.data()}, LeafIntegers{.narrow = narrow.data()}, wide_signed, narrow_signed,
          wide_signed_pairs, narrow_signed_pairs, LeafIntegers{.wide = wide.data(), .wide_b = b.data()},
          LeafIntegers{.narrow = narrow.data(), .wide_b = b.data()},
          LeafIntegers{.wide = wide.data(), .narrow_b = narrow_b.data()},
          LeafIntegers{.narrow = narrow.data(), .narrow_b = narrow_b.data()}}) {
      std::vector<ChildrenBlock> out(2);
      std::vector<ChildrenBlock> expected(2);
      combine_leaves(leaves, code, out.data(), 16);
      scalar::combine_leaves(leaves, code, expected.data(), 16);
      expect_same(out, expected);
      expect_same(leaf_first_round(leaves, code, weights.data(), 16),
                  scalar::leaf_first_round(leaves, code, weights.data(), 16));
      std::vector<DenominatorsBlock> bound(2);
      std::vector<DenominatorsBlock> expected_bound(2);
      expect_same(leaf_bind_round(leaves, code, bound.data(), weights.data(), challenge, 16),
                  scalar::leaf_bind_round(leaves, code, expected_bound.data(), weights.data(), challenge, 16));
      expect_same(bound, expected_bound);
      std::vector<DenominatorsBlock> alone(2);
      leaf_bind(leaves, code, alone.data(), challenge, 16);
      expect_same(alone, expected_bound);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Kernels, testing::Values(HWY_SCALAR, HWY_NEON, HWY_AVX2, HWY_AVX3, HWY_AVX3_DL));

TEST(FractionTree, root_is_the_rational_sum) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    Instance instance = mixed_instance(seed);
    const auto columns = instance.data();
    auto multiplicities = instance.multiplicities();
    multiplicities[0][1] += seed;  // so that the sum is not always zero
    const E alpha{F::from_canonical(123456789), F::from_canonical(987654321)};
    const E lambda{F::from_canonical(1111), F::from_canonical(2222)};
    E expected;
    const auto leaf = [&](std::size_t table, std::int64_t a, std::int64_t b) {
      return alpha - E::from_signed(a) - lambda * E::from_signed(b) - lambda * lambda * E::from_unsigned(table + 1);
    };
    for (std::size_t c = 0; c < columns.size(); ++c) {
      for (std::size_t i = 0; i < instance.a[c].size(); ++i) {
        const std::int64_t b = instance.b[c].empty() ? 0 : instance.b[c][i];
        expected += leaf(instance.structure.columns[c].table, instance.a[c][i], b).inverse();
      }
    }
    for (std::size_t t = 0; t < multiplicities.size(); ++t) {
      const auto& values = instance.structure.tables[t].values;
      for (std::size_t row = 0; row < multiplicities[t].size(); ++row) {
        expected -= E::from_signed(multiplicities[t][row]) *
                    leaf(t, static_cast<std::int64_t>(row), values.empty() ? 0 : values[row]).inverse();
      }
    }
    SelfCommunicator self;
    const LookupInput input{instance.structure, columns, multiplicities, alpha, lambda};
    const NodeOwners owners(instance.structure, std::vector<Ownership>(columns.size()), 0, 1);
    const std::vector<SegmentClass> classes = make_segments(input, owners.top(), self);
    const FractionTree tree(input, classes, owners, self);
    EXPECT_EQ(tree.root().p, expected * tree.root().q);
    EXPECT_NE(tree.root().q, E::zero());
    EXPECT_EQ(expected == E::zero(), seed == 0);
  }
}

}  // namespace
}  // namespace tessera::test
