#include "tensor/contract.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <limits>

#include "cluster/thread_communicator.hpp"

#include "random_values.hpp"

namespace tessera::test {
namespace {

/// Sums over the weighted dimensions of all entries, one by one.
std::vector<E> naive_contract(const IntegerTensor& tensor, const Shape& shape, const std::vector<Axis>& axes) {
  std::size_t size = 1;
  for (std::size_t j = 0; j < axes.size(); ++j) {
    size <<= axes[j] ? 0 : shape.dimensions()[j].bits();
  }
  std::vector<E> result(size);
  const std::vector<E> values = dense_values(tensor, shape);
  const std::vector<Entry> entries = all_entries(shape);
  for (std::size_t x = 0; x < values.size(); ++x) {
    E term = values[x];
    std::size_t place = 0;
    for (std::size_t j = 0; j < axes.size(); ++j) {
      if (axes[j]) {
        term *= (*axes[j])[entries[x].index[j]];
      } else {
        place = (place << shape.dimensions()[j].bits()) + entries[x].index[j];
      }
    }
    result[place] += term;
  }
  return result;
}

/// Random weights on the dimensions in `weighted` (a bit each).
std::vector<Axis> random_axes(const Shape& shape, std::size_t weighted, RandomElements& random) {
  std::vector<Axis> axes;
  for (std::size_t j = 0; j < shape.dimensions().size(); ++j) {
    const std::vector<E> weights = random.elements(std::size_t{1} << shape.dimensions()[j].bits());
    axes.push_back(((weighted >> j) & 1) != 0 ? Axis(weights) : Axis{});
  }
  return axes;
}

/// All subsets of weighted dimensions, on 1 to 4 ranks.
template <class T>
void expect_contractions(const Shape& stored, const Shape& shape, Ownership ownership, std::uint64_t seed) {
  SelfCommunicator self;
  const ChunkedTensor<T> whole = filled<T>(stored, ownership, seed, self);
  for (std::size_t weighted = 0; weighted < std::size_t{1} << shape.dimensions().size(); ++weighted) {
    RandomElements random(seed + weighted);
    const std::vector<Axis> axes = random_axes(shape, weighted, random);
    const std::vector<E> expected = naive_contract(&whole, shape, axes);
    EXPECT_EQ(contract(&whole, shape, axes, self), expected) << weighted;
    for (int ranks = 2; ranks <= 4; ++ranks) {
      run_ranks(ranks, [&](Communicator& comm) {
        omp_set_num_threads(1 + ranks % 2);
        const ChunkedTensor<T> part = filled<T>(stored, ownership, seed, comm);
        EXPECT_EQ(contract(&part, shape, axes, comm), expected) << weighted << " on " << ranks;
      });
    }
  }
}

template <class T>
class Contract : public ::testing::Test {};
using ElementTypes = ::testing::Types<std::int16_t, std::uint16_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(Contract, ElementTypes);

TYPED_TEST(Contract, equals_the_sum_over_all_entries) {
  const std::vector<Shape> shapes{Shape({Dimension::whole(5)}),
                                  Shape({Dimension::outer(2), Dimension::tiled(96), Dimension::whole(2)}),
                                  Shape({Dimension{13, 2}, Dimension{3, 1}, Dimension::outer(3)}),
                                  Shape({Dimension::outer(2), Dimension{32, 4}, Dimension{37, 3}}),
                                  Shape({Dimension::outer(3), Dimension{8, 1}, Dimension{8, 1}}, Presence::causal)};
  std::uint64_t seed = 1;
  for (const Shape& shape : shapes) {
    expect_contractions<TypeParam>(shape, shape, {}, ++seed);
    expect_contractions<TypeParam>(shape, shape, {0}, ++seed);
    if (shape.dimensions().size() > 1) {
      expect_contractions<TypeParam>(shape, shape, {1}, ++seed);
      expect_contractions<TypeParam>(shape, shape, {1, Deal::tiles}, ++seed);
      expect_contractions<TypeParam>(shape, shape, {1, Deal::all}, ++seed);
    }
  }
}

TYPED_TEST(Contract, extreme_values) {
  const Shape shape({Dimension::outer(2), Dimension::whole(64)});
  SelfCommunicator self;
  const F largest = F::from_canonical(F::modulus - 1);
  for (const TypeParam value : {std::numeric_limits<TypeParam>::min(), std::numeric_limits<TypeParam>::max()}) {
    ChunkedTensor<TypeParam> tensor(shape, {}, 0, 1);
    std::ranges::fill(tensor.values(), value);
    const std::vector<Axis> axes{std::vector<E>(2, E::one()), std::vector<E>(64, E(largest, largest))};
    EXPECT_EQ(contract(&tensor, shape, axes, self), naive_contract(&tensor, shape, axes));
  }
}

TEST(Contract, rows_longer_than_are_multiplied_at_once) {
  expect_contractions<std::int16_t>(Shape({Dimension{3, 1}, Dimension::whole(8192)}),
                                    Shape({Dimension{3, 1}, Dimension::whole(8192)}), {0}, 60);
}

TEST(Contract, dimensions_may_be_regrouped_where_chunks_stay_the_same) {
  // heads and places as one dimension and apart; a token dimension as tiles and places in them
  const Shape joined({Dimension::outer(2), Dimension{12, 2}, Dimension::whole(8)});
  const Shape apart({Dimension::outer(2), Dimension::outer(3), Dimension::whole(4), Dimension::whole(8)});
  const Shape tiles(
      {Dimension::outer(2), Dimension::outer(3), Dimension::whole(4), Dimension::whole(2), Dimension::whole(4)});
  expect_contractions<std::int16_t>(joined, apart, {1}, 40);
  expect_contractions<std::int16_t>(joined, tiles, {1}, 41);
  expect_contractions<std::int64_t>(apart, joined, {1}, 42);
}

TEST(Contract, weighted_sum_is_the_claim) {
  const Shape shape({Dimension::outer(3), Dimension{16, 2}, Dimension{16, 2}}, Presence::causal);
  RandomElements random(50);
  const std::vector<Factor> weight{Factor::of(random.elements(4)), Factor{random.elements(4), random.elements(2)},
                                   Factor::at(random.elements(4))};
  std::vector<Axis> axes;
  for (const Factor& factor : weight) {
    axes.emplace_back(factor.table());
  }
  SelfCommunicator self;
  const ChunkedTensor<std::int32_t> whole = filled<std::int32_t>(shape, {0}, 51, self);
  const E expected = naive_contract(&whole, shape, axes).front();
  for (int ranks = 1; ranks <= 4; ++ranks) {
    run_ranks(ranks, [&](Communicator& comm) {
      const ChunkedTensor<std::int32_t> part = filled<std::int32_t>(shape, {0}, 51, comm);
      EXPECT_EQ(weighted_sum(&part, shape, weight, comm), expected);
    });
  }
}

}  // namespace
}  // namespace tessera::test
