#include "tensor/redistribute.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "cluster/thread_communicator.hpp"
#include "tensor/contract.hpp"
#include "tensor/team.hpp"

namespace tessera::test {
namespace {

/// Every value says which it is.
template <class T>
void fill(ChunkedTensor<T>& tensor) {
  for (const std::size_t chunk : tensor.held()) {
    std::iota(tensor.chunk(chunk).begin(), tensor.chunk(chunk).end(),
              static_cast<T>(chunk * tensor.shape().chunk_size()));
  }
}

template <class T>
void expect_filled(const ChunkedTensor<T>& tensor) {
  ChunkedTensor<T> expected = tensor;
  fill(expected);
  EXPECT_EQ(tensor.values(), expected.values());
}

Shape scores_of_heads() {
  return Shape({Dimension::outer(2), Dimension::outer(3), Dimension::outer(1), Dimension{8, 1}, Dimension{8, 1}},
               Presence::causal);
}

TEST(Redistribute, chunks_get_to_their_new_owners) {
  for (const int ranks : {1, 2, 4, 5, 40}) {
    run_ranks(ranks, [&](Communicator& comm) {
      ChunkedTensor<std::int32_t> by_head(scores_of_heads(), Ownership{1}, comm.rank(), ranks);
      fill(by_head);
      const Ownership tiles{1, Deal::tiles};
      const auto by_tile = redistribute(
          by_head, tiles, [&](int rank) { return owned_chunks(scores_of_heads(), tiles, rank, ranks); }, comm);
      EXPECT_EQ(by_tile.held(), ChunkedTensor<std::int32_t>(scores_of_heads(), tiles, comm.rank(), ranks).held());
      EXPECT_EQ(by_tile.ownership(), tiles);
      expect_filled(by_tile);
    });
  }
}

/// Every rank is in one team, its owner first, and members have all columns once.
TEST(Team, ranks_beyond_the_parts_join_the_owner_before_them) {
  for (const std::size_t count : {1, 3, 12}) {
    for (int ranks = static_cast<int>(count) + 1; ranks < 70; ++ranks) {
      std::size_t last = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const Team team = team_of(count, rank, ranks);
        EXPECT_EQ(contiguous_owner(team.part, count, ranks), team.first);
        EXPECT_EQ(team.first + static_cast<int>(team.number), rank);
        EXPECT_LT(team.number, team.size);
        EXPECT_EQ(team.share({5, 25}, team.number).first, team.number == 0 ? 5 : last);
        last = team.share({5, 25}, team.number).last;
        if (team.number + 1 == team.size) {
          EXPECT_EQ(last, 25U);
        }
      }
    }
  }
}

TEST(Redistribute, columns_of_a_team_become_whole_chunks) {
  constexpr int ranks = 7;
  const Shape shape({Dimension::outer(2), Dimension::outer(3), Dimension::whole(4), Dimension::whole(8)});
  run_ranks(ranks, [&](Communicator& comm) {
    const Team mine = team_of(3, comm.rank(), ranks);
    ChunkedTensor<std::int32_t> parts(shape, Ownership{1}, mine.first, ranks);
    fill(parts);
    const Range own = mine.share({0, 8}, mine.number);
    for (const std::size_t chunk : parts.held()) {  // wrong where others are to be asked
      for (std::size_t i = 0; i < shape.chunk_size(); ++i) {
        parts.chunk(chunk)[i] += own.contains(i % 8) ? 0 : -1;
      }
    }
    const Ownership all{1, Deal::all};
    const auto parts_of = [&](std::size_t chunk) {
      const Team team = team_of(3, contiguous_owner(shape.coordinate(chunk, 1), 3, ranks), ranks);
      std::vector<ColumnsOf> columns;
      for (std::size_t member = 0; member < team.size; ++member) {
        columns.push_back({team.first + static_cast<int>(member), team.share({0, 8}, member)});
      }
      return columns;
    };
    const auto whole = assemble(
        parts, all, [&](int rank) { return owned_chunks(shape, all, rank, ranks); }, parts_of, comm);
    EXPECT_EQ(whole.held(), owned_chunks(shape, all, comm.rank(), ranks));
    expect_filled(whole);
  });
}

TEST(Redistribute, what_several_ranks_hold_counts_once) {
  const Shape shape({Dimension::outer(2), Dimension::outer(3), Dimension::whole(4)});
  SelfCommunicator self;
  ChunkedTensor<std::int16_t> whole(shape, Ownership{1}, 0, 1);
  fill(whole);
  const std::vector<Axis> axes{Axis{}, Axis{}, std::vector<E>(4, E::one())};
  const std::vector<E> expected = contract(&whole, shape, axes, self);
  run_ranks(4, [&](Communicator& comm) {
    ChunkedTensor<std::int16_t> own(shape, Ownership{1}, comm.rank(), 4);
    fill(own);
    // everybody wants what rank 0 owns, and rank 3 all
    const auto wanted = [&](int rank) {
      std::vector<std::size_t> chunks = owned_chunks(shape, Ownership{1}, rank == 0 ? 0 : rank, 4);
      for (const std::size_t chunk : owned_chunks(shape, Ownership{1}, 0, 4)) {
        if (rank != 0) {
          chunks.push_back(chunk);
        }
      }
      if (rank == 3) {
        chunks.resize(shape.chunk_count());
        std::iota(chunks.begin(), chunks.end(), std::size_t{0});
      }
      std::ranges::sort(chunks);
      return chunks;
    };
    const auto shared = redistribute(own, Ownership{1}, wanted, comm);
    EXPECT_EQ(shared.held(), wanted(comm.rank()));
    expect_filled(shared);
    EXPECT_EQ(contract(&shared, shape, axes, comm), expected);
  });
}

}  // namespace
}  // namespace tessera::test
