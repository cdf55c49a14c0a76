#include <gtest/gtest.h>

#include "cluster/counting_communicator.hpp"
#include "cluster/thread_communicator.hpp"

namespace tessera::test {
namespace {

MessageBytes bytes(std::size_t count) { return MessageBytes(count); }

/// One of each call, with as many bytes as the rank's number and ranks say.
void communicate(Communicator& comm) {
  std::vector<E> elements(3);
  comm.all_reduce_sum(elements);
  std::vector<std::int64_t> values(5);
  comm.all_reduce_sum(values);
  comm.all_reduce_max(std::span(values).first(1));
  comm.barrier();
  (void)comm.all_gather_bytes(bytes(10 + static_cast<std::size_t>(comm.rank())));
  std::vector<MessageBytes> send;
  for (int to = 0; to < comm.size(); ++to) {
    send.push_back(bytes(100 * static_cast<std::size_t>(comm.rank()) + static_cast<std::size_t>(to)));
  }
  (void)comm.all_to_all_bytes(send);
  MessageBytes shared = bytes(comm.rank() == 1 ? 1000 : 0);
  comm.broadcast_bytes(shared, comm.size() > 1 ? 1 : 0);
}

TEST(CountingCommunicator, counts_what_every_rank_sends_and_receives) {
  run_ranks(3, [](Communicator& plain) {
    CountingCommunicator comm(plain);
    comm.begin("/");
    comm.barrier();
    comm.begin("/a");
    communicate(comm);
    comm.end();
    comm.begin("/a");
    comm.barrier();
    comm.end();
    comm.end();
    const std::vector<ScopeTraffic> found = comm.gather();
    constexpr std::uint64_t reduced = 3 * 16 + 5 * 8 + 8;
    const ScopeTraffic inner{"/a",
                             8,
                             {reduced + 10 + 1 + 2, reduced + 11 + 100 + 102 + 1000, reduced + 12 + 200 + 201},
                             {reduced + 23 + 100 + 200 + 1000, reduced + 22 + 1 + 201, reduced + 21 + 2 + 102 + 1000}};
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[1], inner);
    EXPECT_EQ(found[0], (ScopeTraffic{"/", 9, inner.sent, inner.received}));
  });
}

TEST(CountingCommunicator, gathering_counts_the_same_where_lengths_are_known) {
  run_ranks(3, [](Communicator& plain) {
    CountingCommunicator comm(plain);
    const MessageBytes mine = bytes(10 + static_cast<std::size_t>(comm.rank()));
    comm.begin("/known");
    (void)comm.all_gather_known(mine, std::vector<std::size_t>{10, 11, 12});
    comm.end();
    comm.begin("/unknown");
    (void)comm.all_gather_bytes(mine);
    comm.end();
    const std::vector<ScopeTraffic> found = comm.gather();
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0], (ScopeTraffic{"/known", 1, {10, 11, 12}, {23, 22, 21}}));
    EXPECT_EQ(found[1], (ScopeTraffic{"/unknown", 1, found[0].sent, found[0].received}));
  });
}

TEST(CountingCommunicator, a_rank_that_is_alone_sends_nothing) {
  SelfCommunicator self;
  CountingCommunicator comm(self);
  comm.begin("/");
  communicate(comm);
  comm.end();
  EXPECT_EQ(comm.gather(), (std::vector<ScopeTraffic>{{"/", 7, {0}, {0}}}));
}

}  // namespace
}  // namespace tessera::test
