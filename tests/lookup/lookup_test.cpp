#include <gtest/gtest.h>

#include "cluster/thread_communicator.hpp"

#include "instance.hpp"

namespace tessera::test {
namespace {

/// The multilinear extension of a column's zero-padded values, the slow way.
template <class T>
E naive_evaluation(const Shape& shape, const std::vector<T>& values, const Point& flat) {
  std::vector<E> cube(std::size_t{1} << shape.bits());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t chunk = i >> shape.inner_bits();
    const std::size_t place = (shape.outer_index(chunk) << shape.inner_bits()) + i % shape.chunk_size();
    cube[place] = E::from_signed(values[i]);
  }
  return evaluate(cube, flat);
}

void expect_complete(const Instance& instance) {
  const Proof proof = prove(instance);
  const LookupClaims claims = verify(instance.structure, proof.payload);
  EXPECT_EQ(claims.point, proof.claims.point);
  EXPECT_EQ(claims.multiplicity, proof.claims.multiplicity);
  for (std::size_t c = 0; c < instance.a.size(); ++c) {
    const Shape& shape = instance.structure.columns[c].shape;
    const Point point = claims.column_point(shape);
    EXPECT_EQ(claims.a[c], naive_evaluation(shape, instance.a[c], point));
    EXPECT_EQ(claims.b[c], naive_evaluation(shape, instance.b[c], point));
    EXPECT_EQ(claims.a[c], proof.claims.a[c]);
    EXPECT_EQ(claims.b[c], proof.claims.b[c]);
  }
  const auto multiplicities = instance.multiplicities();
  for (std::size_t t = 0; t < multiplicities.size(); ++t) {
    const Shape rows({Dimension::whole(multiplicities[t].size())});
    EXPECT_EQ(claims.multiplicity[t], naive_evaluation(rows, multiplicities[t], claims.column_point(rows)));
  }
}

TEST(Lookup, mixed_columns_are_proven_and_claims_are_their_evaluations) {
  expect_complete(mixed_instance(1));
  expect_complete(mixed_instance(2, 1));
}

TEST(Lookup, one_column) {
  std::mt19937_64 random(3);
  for (const unsigned bits : {0U, 1U, 2U, 5U, 6U, 7U, 8U, 11U}) {
    Instance instance;
    instance.add_table("R4", 4);
    instance.add_column(Shape({Dimension{std::size_t{1} << bits, bits}}), 0, {}, random);
    expect_complete(instance);
  }
}

/// Long chunks are bound in place, block by block, then moved together, and so on; two chunks, with and without pairs.
TEST(Lookup, chunks_of_many_blocks) {
  std::mt19937_64 random(5);
  for (const unsigned bits : {13U, 15U, 18U}) {
    Instance instance;
    instance.add_table("R4", 4);
    instance.add_table("pairs", 2, {7, -3, 0, 1 << 20});
    instance.add_column(Shape({Dimension{std::size_t{2} << bits, bits}}), 0, {}, random);
    instance.add_column(Shape({Dimension{std::size_t{2} << (bits - 1), bits - 1}}), 1, {}, random);
    expect_complete(instance);
  }
}

TEST(Lookup, one_value_in_a_table_of_one_row) {
  Instance instance;
  instance.add_table("R0", 0);
  std::mt19937_64 random(4);
  instance.add_column(Shape({Dimension::whole(1)}), 0, {}, random);
  expect_complete(instance);
}

TEST(Lookup, random_structures) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    Instance instance;
    const std::size_t tables = 1 + below(4);
    for (std::size_t t = 0; t < tables; ++t) {
      const auto log_size = static_cast<unsigned>(below(10));
      std::vector<std::int64_t> values(below(2) << log_size);
      for (std::int64_t& value : values) {
        value = static_cast<std::int64_t>(random() % (1ULL << 32)) - (1LL << 31);
      }
      instance.add_table("table", log_size, values);
    }
    for (std::size_t c = 0; c < 1 + below(6); ++c) {
      const auto tile = static_cast<unsigned>(below(5));
      const std::size_t side = std::size_t{1} << (tile + below(3));
      const Shape causal({Dimension::outer(1 + below(5)), Dimension{side, tile}, Dimension{side, tile}},
                         Presence::causal);
      const Shape dense({Dimension::outer(1 + below(5)), Dimension{1 + below(200), static_cast<unsigned>(below(8))}});
      const Ownership owner = below(2) == 0 ? Ownership{} : Ownership{below(2)};
      instance.add_column(below(2) == 0 ? causal : dense, below(tables), owner, random);
    }
    SCOPED_TRACE(seed);
    expect_complete(instance);
  }
}

TEST(Lookup, bytes_depend_neither_on_ranks_nor_on_threads) {
  const Instance instance = mixed_instance(5);
  const std::vector<std::uint8_t> expected = prove(instance).payload;
  const int threads_before = omp_get_max_threads();
  for (const int threads : {1, 2}) {
    for (const int ranks : {1, 2, 3, 4, 7}) {
      std::vector<std::vector<std::uint8_t>> payloads(static_cast<std::size_t>(ranks));
      run_ranks(ranks, [&](Communicator& comm) {
        omp_set_num_threads(threads);
        const auto multiplicities = count_multiplicities(instance.structure, instance.data(), comm);
        EXPECT_EQ(multiplicities, instance.multiplicities());
        payloads[static_cast<std::size_t>(comm.rank())] = prove(instance, multiplicities, comm).payload;
      });
      for (const auto& payload : payloads) {
        EXPECT_TRUE(payload == expected) << ranks << " ranks, " << threads << " threads";
      }
    }
  }
  omp_set_num_threads(threads_before);
}

TEST(Lookup, counting_refuses_values_that_are_not_in_the_table) {
  Instance instance = mixed_instance(6);
  instance.a[0][100] = 256;
  EXPECT_THROW(static_cast<void>(instance.multiplicities()), std::logic_error);
  instance = mixed_instance(6);
  ++instance.b[1][3];
  EXPECT_THROW(static_cast<void>(instance.multiplicities()), std::logic_error);
}

TEST(LookupStructure, slots_descend_and_are_aligned) {
  const LookupStructure structure = mixed_instance(1).structure;
  const LookupStructure::Slots slots = structure.slots();
  // features (1 + 2 + 10 bits, twice), scores (1 + 2 + 2 + 6), pairs, R8, tokens 6, ..., in the order of the list
  EXPECT_EQ(slots.column[0], 0U);
  EXPECT_EQ(slots.column[6], 1U << 13);
  EXPECT_EQ(slots.column[1], 1U << 14);
  EXPECT_EQ(slots.table[1], (1U << 14) + (1U << 11));
  EXPECT_EQ(slots.log_leaves, 15U);
  for (std::size_t c = 0; c < structure.columns.size(); ++c) {
    EXPECT_EQ(slots.column[c] % (std::size_t{1} << structure.columns[c].shape.bits()), 0U);
  }
  EXPECT_EQ(structure.present_leaves(), 2 * 3 * 32 * 32 * 2 + 2 * 3 * 3 * 64 + 64 + 5 + 3 * 8 + 1 + 32 + 512 + 256U);
}

TEST(LookupStructure, grinding_keeps_a_hundred_bits) {
  LookupStructure structure;
  structure.tables.push_back({"R16", 16, {}});
  EXPECT_EQ(structure.grinding_bits(), 8U);
  structure.columns.push_back({"large", Shape({Dimension{std::size_t{1} << 34, 20}}), 0});
  EXPECT_EQ(structure.grinding_bits(), 10U);
  AccountingTranscript transcript;
  (void)verify_lookup(transcript, structure);
  const SoundnessReport report = transcript.account().soundness();
  EXPECT_GE(report.round_by_round_bits(), 100.0);
  // 35 layers: 4*2^35 fractions and 10 bits of work; two challenges a layer; layer j has j rounds of degree 2 and eq
  ASSERT_EQ(report.entries.size(), 3U);
  EXPECT_NEAR(report.entries[0].bits, 128 - 37 + 10, 1e-6);
  EXPECT_NEAR(report.entries[1].bits, 128 - std::log2(70), 1e-6);
  EXPECT_NEAR(report.entries[2].bits, 128 - std::log2(3 * 35 * 34 / 2), 1e-6);
}

}  // namespace
}  // namespace tessera::test
