// Neighbouring chunks of one rank are one segment of the tree: the proof is that of single chunks.

#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "cluster/thread_communicator.hpp"
#include "lookup/fraction_tree.hpp"

#include "instance.hpp"

namespace tessera::test {
namespace {

constexpr std::size_t columns = 6;

/// Columns of (block, head, token), tokens in two chunks, in three or in one; short chunks, which only together have
/// integer kernels, and long ones; pairs and values of one table only.
Instance instance_of(Ownership owner) {
  std::mt19937_64 random(17);
  Instance instance;
  std::vector<std::int64_t> values(512);
  for (std::size_t i = 0; i < 512; ++i) {
    values[i] = static_cast<std::int64_t>(i * i) - 70000;
  }
  instance.add_table("R8", 8);
  instance.add_table("pairs", 9, values);
  const auto shape = [](std::size_t blocks, std::size_t heads, const Dimension& tokens) {
    return Shape({Dimension::outer(blocks), Dimension::outer(heads), tokens});
  };
  instance.add_column(shape(3, 8, {64, 5}), 0, owner, random);
  instance.add_column(shape(3, 8, {64, 5}), 1, owner, random);
  instance.add_column(shape(2, 5, {16, 3}), 0, owner, random);
  instance.add_column(shape(2, 16, {16, 3}), 1, owner, random);
  instance.add_column(shape(3, 8, {24, 3}), 0, owner, random);
  instance.add_column(shape(2, 16, {512, 8}), 1, owner, random);
  EXPECT_EQ(instance.a.size(), columns);
  return instance;
}

/// The same values on these ranks' behalf, of which chunks lie in places of their own.
struct Scattered {
  std::vector<std::vector<std::vector<std::uint32_t>>> a;  // by column and chunk
  std::vector<LookupColumnData> data;

  explicit Scattered(const Instance& instance) : a(columns), data(instance.data()) {
    for (std::size_t c = 0; c < columns; ++c) {
      const std::size_t size = instance.structure.columns[c].shape.chunk_size();
      for (std::size_t first = 0; first < instance.a[c].size(); first += size) {
        const auto chunk = instance.a[c].begin() + static_cast<std::ptrdiff_t>(first);
        a[c].emplace_back(chunk, chunk + static_cast<std::ptrdiff_t>(size));
        std::ranges::for_each(a[c].back(), [c](std::uint32_t& value) { value -= offset(c); });
      }
      data[c].in_place = [this, c](std::size_t chunk) {
        return LeafIntegers{.wide = a[c][chunk].data(), .added = offset(c)};
      };
    }
  }
  /// What is added to a column's integers.
  static std::uint32_t offset(std::size_t column) { return column % 2 == 0 ? 0 : 1U << (10 + column); }
  Scattered(const Scattered&) = delete;
  Scattered& operator=(const Scattered&) = delete;
};

std::vector<std::uint8_t> prove_on(int ranks, const Instance& instance, bool scattered = false) {
  std::vector<std::vector<std::uint8_t>> payloads(static_cast<std::size_t>(ranks));
  const auto multiplicities = instance.multiplicities();
  run_ranks(ranks, [&](Communicator& comm) {
    omp_set_num_threads(1 + ranks % 2);
    const Scattered apart(instance);
    ProverTranscript transcript(seed_of(7));
    (void)prove_lookup(transcript, instance.structure, scattered ? apart.data : instance.data(), multiplicities, comm);
    payloads[static_cast<std::size_t>(comm.rank())] = transcript.payload();
  });
  for (const auto& payload : payloads) {
    EXPECT_TRUE(payload == payloads.front());
  }
  return payloads.front();
}

const std::vector<Ownership> ownerships{{0}, {1}, {2}, {}, {1, Deal::all}, {1, Deal::tiles}};

/// How many chunks the segments have, by rank and column, all of which are checked.
std::set<std::size_t> runs_of(int ranks, const Instance& instance) {
  std::vector<std::set<std::size_t>> leaves(columns);  // of all ranks
  std::set<std::size_t> runs;
  std::mutex mutex;
  run_ranks(ranks, [&](Communicator& comm) {
    const Scattered apart(instance);
    const auto& data = apart.data;
    const auto multiplicities = instance.multiplicities();
    const LookupInput input{instance.structure, data, multiplicities, E::one(), E::one()};
    const NodeOwners owners(instance.structure, instance.ownership, comm.rank(), comm.size());
    const std::vector<SegmentClass> classes = make_segments(input, owners.top(), comm);
    const auto slots = instance.structure.slots();
    const std::lock_guard lock(mutex);
    for (const SegmentClass& segments : classes) {
      for (std::size_t number = 0; number < segments.segments.size(); ++number) {
        const Segment& segment = segments.segments[number];
        if (segment.is_table) {
          continue;
        }
        const std::size_t c = segment.source;
        const Shape& shape = instance.structure.columns[c].shape;
        const std::size_t size = std::size_t{1} << segments.log_leaves;
        EXPECT_TRUE(segments.log_leaves <= owners.top() || size == shape.chunk_size());
        EXPECT_EQ(segments.kind == LeafKind::fractions, segments.log_leaves < least_integer_bits);
        runs.insert(size / shape.chunk_size());
        std::vector<std::uint32_t> a(size);
        std::vector<std::int32_t> b(instance.b[c].empty() ? 0 : size);
        read_segment(input, segment, segments.log_leaves, a, b);
        for (std::size_t i = 0; i < size; ++i) {
          const std::size_t leaf = segment.place * size + i - slots.column[c];
          EXPECT_TRUE(leaves[c].insert(leaf).second) << "a leaf of two segments";
          const std::size_t chunk = segment.part + i / shape.chunk_size();
          EXPECT_EQ(chunk_owner(instance.ownership[c], shape, chunk, comm.size()), comm.rank());
          EXPECT_EQ(leaf, (shape.outer_index(chunk) << shape.inner_bits()) + i % shape.chunk_size());
          const std::size_t at = chunk * shape.chunk_size() + i % shape.chunk_size();
          EXPECT_EQ(a[i], instance.a[c][at]);
          if (segments.kind != LeafKind::fractions) {
            EXPECT_EQ(segments.leaves[number].a(i), a[i]) << "column " << c;
          }
          EXPECT_TRUE(b.empty() || b[i] == instance.b[c][at]);
        }
      }
    }
  });
  for (std::size_t c = 0; c < columns; ++c) {
    EXPECT_EQ(leaves[c].size(), instance.a[c].size());
  }
  return runs;
}

TEST(Runs, segments_have_all_leaves_of_a_rank_once) {
  for (const Ownership& owner : ownerships) {
    for (const int ranks : {1, 2, 3, 7}) {
      SCOPED_TRACE(std::to_string(owner.dimension) + " on " + std::to_string(ranks));
      (void)runs_of(ranks, instance_of(owner));
    }
  }
  EXPECT_EQ(*runs_of(2, instance_of({2})).rbegin(), 2U) << "two ranks' tokens";
  EXPECT_EQ(*runs_of(2, instance_of({1})).rbegin(), 4U * 4);
  EXPECT_GE(*runs_of(2, instance_of({0})).rbegin(), 16U);
}

TEST(Runs, the_proof_is_that_of_single_chunks) {
  const std::vector<std::uint8_t> single = prove_on(2, instance_of({2}));
  EXPECT_EQ(rejection(instance_of({2}).structure, single), "");
  for (const Ownership& owner : ownerships) {
    const Instance instance = instance_of(owner);
    for (const int ranks : {1, 2, 3, 4, 7}) {
      EXPECT_TRUE(prove_on(ranks, instance) == single) << owner.dimension << " on " << ranks;
    }
    EXPECT_TRUE(prove_on(2, instance, true) == single) << owner.dimension << ", chunks apart";
  }
}

/// Where all chunks are there, the flat order of the leaves does not depend on how they are cut.
TEST(Runs, the_proof_is_that_of_one_chunk) {
  const auto cut = [](unsigned log_chunk) {
    std::mt19937_64 random(23);
    Instance instance;
    instance.add_table("R6", 6);
    instance.add_table("pairs", 2, {7, -3, 0, 1 << 20});
    for (const std::size_t table : {0, 1}) {
      instance.add_column(Shape({Dimension::outer(3), Dimension{1 << 10, log_chunk}}), table, {1}, random);
    }
    return instance;
  };
  const std::vector<std::uint8_t> whole = prove(cut(10)).payload;
  for (const unsigned log_chunk : {0U, 1U, 3U, 6U, 8U, 9U}) {
    for (const int ranks : {1, 3}) {
      const Instance instance = cut(log_chunk);
      std::vector<std::uint8_t> payload;
      run_ranks(ranks, [&](Communicator& comm) {
        const std::vector<std::uint8_t> mine = prove(instance, cut(10).multiplicities(), comm).payload;
        if (comm.rank() == 0) {
          payload = mine;
        }
      });
      EXPECT_TRUE(payload == whole) << log_chunk << " on " << ranks;
    }
  }
}

}  // namespace
}  // namespace tessera::test
