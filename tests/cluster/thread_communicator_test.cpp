#include <gtest/gtest.h>

#include "cluster/thread_communicator.hpp"

namespace tessera::test {
namespace {

MessageBytes message(int value, std::size_t size) { return {size, static_cast<std::byte>(value)}; }

TEST(ThreadCommunicator, collectives) {
  for (const int ranks : {1, 2, 3, 5}) {
    run_ranks(ranks, [&](Communicator& comm) {
      const int rank = comm.rank();
      ASSERT_EQ(comm.size(), ranks);
      for (int repeat = 0; repeat < 50; ++repeat) {
        std::vector<E> elements{E::from_signed(rank + 1), E(F::from_signed(-rank), F::from_unsigned(7))};
        comm.all_reduce_sum(elements);
        EXPECT_EQ(elements[0], E::from_signed(ranks * (ranks + 1) / 2));
        EXPECT_EQ(elements[1], E(F::from_signed(-ranks * (ranks - 1) / 2), F::from_signed(7 * ranks)));
        std::vector<std::int64_t> values{rank, INT64_MAX, -rank};
        comm.all_reduce_max(values);
        EXPECT_EQ(values, (std::vector<std::int64_t>{ranks - 1, INT64_MAX, 0}));
        comm.all_reduce_sum(values);
        EXPECT_EQ(values[0], std::int64_t{ranks} * (ranks - 1));

        MessageBytes expected;
        std::vector<std::size_t> lengths;
        std::vector<MessageBytes> send;
        for (int other = 0; other < ranks; ++other) {
          const auto part = message(other, static_cast<std::size_t>(2 * other));
          expected.insert(expected.end(), part.begin(), part.end());
          lengths.push_back(part.size());
          send.push_back(message(10 * rank + other, static_cast<std::size_t>(rank + other)));
        }
        EXPECT_EQ(comm.all_gather_bytes(message(rank, static_cast<std::size_t>(2 * rank))), expected);
        EXPECT_EQ(comm.all_gather_known(message(rank, static_cast<std::size_t>(2 * rank)), lengths), expected);
        const auto received = comm.all_to_all_bytes(send);
        ASSERT_EQ(received.size(), static_cast<std::size_t>(ranks));
        for (int other = 0; other < ranks; ++other) {
          EXPECT_EQ(received[static_cast<std::size_t>(other)],
                    message(10 * other + rank, static_cast<std::size_t>(rank + other)));
        }
        MessageBytes shared = message(rank, 3);
        comm.broadcast_bytes(shared, ranks - 1);
        EXPECT_EQ(shared, message(ranks - 1, 3));
        comm.barrier();
      }
    });
  }
}

TEST(ThreadCommunicator, a_rank_that_throws_stops_the_others) {
  const auto body = [](Communicator& comm) {
    if (comm.rank() == 2) {
      throw std::domain_error("rank 2 gave up");
    }
    comm.barrier();
  };
  EXPECT_THROW(run_ranks(4, body), std::domain_error);
}

TEST(ThreadCommunicator, a_rank_that_returns_early_stops_the_others) {
  const auto body = [](Communicator& comm) {
    if (comm.rank() != 0) {
      comm.barrier();
    }
  };
  EXPECT_THROW(run_ranks(3, body), RankStopped);
}

TEST(ThreadCommunicator, different_lengths_are_refused) {
  const auto body = [](Communicator& comm) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(1 + comm.rank()));
    comm.all_reduce_max(values);
  };
  EXPECT_THROW(run_ranks(2, body), std::logic_error);
}

}  // namespace
}  // namespace tessera::test
