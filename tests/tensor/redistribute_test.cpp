#include "tensor/redistribute.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "cluster/thread_communicator.hpp"
#include "tensor/contract.hpp"

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

Shape scores() {
  return Shape({Dimension::outer(2), Dimension::outer(3), Dimension::outer(1), Dimension{8, 1}, Dimension{8, 1}},
               Presence::causal);
}

TEST(Redistribute, chunks_get_to_their_new_owners) {
  for (const int ranks : {1, 2, 4, 5, 40}) {
    run_ranks(ranks, [&](Communicator& comm) {
      ChunkedTensor<std::int32_t> by_head(scores(), Ownership{1}, comm.rank(), ranks);
      fill(by_head);
      const Ownership tiles{1, Deal::tiles};
      const auto by_tile = redistribute(
          by_head, tiles, [&](int rank) { return owned_chunks(scores(), tiles, rank, ranks); }, comm);
      EXPECT_EQ(by_tile.held(), ChunkedTensor<std::int32_t>(scores(), tiles, comm.rank(), ranks).held());
      EXPECT_EQ(by_tile.ownership(), tiles);
      expect_filled(by_tile);
    });
  }
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
