// Lists of nodes that are long enough for several threads, against definitions.

#include <gtest/gtest.h>
#include <omp.h>

#include <map>
#include <random>

#include "lookup/fraction_tree.hpp"

namespace tessera::test {
namespace {

E random_element(std::mt19937_64& random) { return {F::from_unsigned(random()), F::from_unsigned(random())}; }

Children random_children(std::mt19937_64& random) {
  return {random_element(random), random_element(random), random_element(random), random_element(random)};
}

bool equal(const Children& a, const Children& b) {
  return a.p0 == b.p0 && a.p1 == b.p1 && a.q0 == b.q0 && a.q1 == b.q1;
}

using Expected = std::map<std::uint64_t, Children>;

void expect_nodes(std::span<const SparseNode> nodes, const Expected& expected) {
  ASSERT_EQ(nodes.size(), expected.size());
  std::size_t i = 0;
  for (const auto& [index, children] : expected) {
    ASSERT_EQ(nodes[i].index, index);
    EXPECT_TRUE(equal(nodes[i].children, children)) << index;
    ++i;
  }
}

class SparseLists : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { omp_set_num_threads(GetParam()); }
  void TearDown() override { omp_set_num_threads(threads_); }

 private:
  int threads_ = omp_get_max_threads();
};
INSTANTIATE_TEST_SUITE_P(Threads, SparseLists, ::testing::Values(1, 2, 5));

/// Long lists to short ones, short ones to long ones, nothing to something and the other way round.
TEST_P(SparseLists, added_segments_stand_among_the_nodes) {
  std::mt19937_64 random(3);
  SparseNodes sparse;
  Expected expected;
  for (const std::size_t count : {0U, 700U, 4000U, 30U, 0U, 2500U}) {
    Expected added;
    while (added.size() < count) {
      const std::uint64_t index = random() % 40000;
      if (!expected.contains(index)) {
        added[index] = random_children(random);
      }
    }
    SegmentClass segments;
    for (const auto& [index, children] : added) {
      segments.segments.push_back({false, 0, 0, index});
    }
    sparse.add(segments, [&](std::size_t i) { return added.at(segments.segments[i].place); });
    expected.insert(added.begin(), added.end());
    expect_nodes(sparse.own, expected);
  }
}

TEST_P(SparseLists, parents_have_both_children_or_a_neutral_one) {
  std::mt19937_64 random(4);
  for (const std::uint64_t range : {1U, 2U, 3000U, 50000U}) {
    std::map<std::uint64_t, Fraction> fractions;
    for (std::size_t i = 0; i < 2800; ++i) {
      fractions[random() % range] = {random_element(random), random_element(random)};
    }
    std::vector<SparseFraction> list;
    Expected expected;
    for (const auto& [index, value] : fractions) {
      list.push_back({index, value});
      Children& parent = expected[index / 2];
      (index % 2 == 0 ? parent.p0 : parent.p1) = value.p;
      (index % 2 == 0 ? parent.q0 : parent.q1) = value.q;
    }
    const RawVector<SparseNode> nodes = pair_up(list);
    expect_nodes(nodes, expected);
    const RawVector<SparseFraction> sums = combined(nodes);
    ASSERT_EQ(sums.size(), nodes.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const Children& of = nodes[i].children;
      EXPECT_EQ(sums[i].index, nodes[i].index);
      EXPECT_EQ(sums[i].value.p, of.p0 * of.q1 + of.p1 * of.q0);
      EXPECT_EQ(sums[i].value.q, of.q0 * of.q1);
    }
  }
  EXPECT_TRUE(pair_up({}).empty());
}

}  // namespace
}  // namespace tessera::test
