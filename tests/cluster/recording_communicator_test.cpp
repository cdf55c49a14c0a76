#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/recording_communicator.hpp"
#include "cluster/thread_communicator.hpp"

namespace tessera::test {
namespace {

using testing::ElementsAre;

/// What a rank that computes wrongly has to do with it.
struct Fault {
  int rank = -1;    // of the job
  int attempt = 0;  // 1, 2; 0: both
  std::size_t step = 0;
};

/// A proof of three steps with a sum and a gathering each; each depends on the results before it.
ContributionRecord prove(Communicator& ranks, int share, bool wrong, std::size_t wrong_step) {
  CountingCommunicator counted(ranks);
  RecordingCommunicator comm(counted);
  std::int64_t challenge = 7;
  counted.begin("/");
  for (std::size_t step = 0; step < 3; ++step) {
    std::int64_t between = share;  // of nobody's interest
    comm.all_reduce_max(std::span(&between, 1));
    counted.begin("/step" + std::to_string(step));
    std::vector<std::int64_t> sums{challenge * (share + 1), wrong && step == wrong_step ? 1 : 0};
    comm.all_reduce_sum(std::span(sums));
    challenge = 3 * sums[0] + sums[1];
    const std::vector<std::int64_t> all = comm.all_gather(std::span<const std::int64_t>(&challenge, 1));
    challenge += all.back();
    counted.end();
  }
  counted.end();
  return comm.take_record();
}

/// The comparison of two attempts by `ranks` ranks, as rank 0 has it.
std::optional<Parting> compare(int ranks, const Fault& fault) {
  std::optional<Parting> result;
  run_ranks(ranks, [&](Communicator& comm) {
    const bool mine = comm.rank() == fault.rank;
    const ContributionRecord first = prove(comm, comm.rank(), mine && fault.attempt != 2, fault.step);
    const ContributionRecord second =
        prove(comm, (comm.rank() + 1) % comm.size(), mine && fault.attempt != 1, fault.step);
    const std::optional<Parting> parting = compare_turned(first, second, comm);
    if (comm.rank() == 0) {
      result = parting;
    }
  });
  return result;
}

TEST(ContributionRecord, the_same_work_by_others_gives_the_same_record) {
  for (const int ranks : {1, 2, 3, 5}) {
    EXPECT_FALSE(compare(ranks, {}).has_value()) << ranks;
  }
}

TEST(ContributionRecord, a_rank_that_is_wrong_once_parts_its_share_alone) {
  for (int rank = 0; rank < 3; ++rank) {
    for (std::size_t step = 0; step < 3; ++step) {
      const std::optional<Parting> parting = compare(3, {rank, 1, step});
      ASSERT_TRUE(parting.has_value());
      EXPECT_EQ(parting->scope, "/step" + std::to_string(step));
      EXPECT_THAT(parting->shares, ElementsAre(rank));
    }
  }
}

TEST(ContributionRecord, a_rank_that_is_wrong_twice_parts_both_its_shares) {
  for (int rank = 0; rank < 4; ++rank) {
    const std::optional<Parting> parting = compare(4, {rank, 0, 1});
    ASSERT_TRUE(parting.has_value());
    EXPECT_EQ(parting->scope, "/step1");
    EXPECT_THAT(common_suspects(parting->shares, 4), ElementsAre(rank));
  }
}

TEST(ContributionRecord, two_ranks_cannot_tell_which_of_them_is_wrong_twice) {
  EXPECT_THAT(common_suspects(compare(2, {1, 0, 2})->shares, 2), ElementsAre(0, 1));
}

TEST(ContributionRecord, one_share_leaves_two_suspects) { EXPECT_THAT(common_suspects({0}, 3), ElementsAre(0, 2)); }

/// What is wrong from the beginning differs where somebody hands it over: the others know nothing.
TEST(ContributionRecord, shares_that_hand_over_nothing_are_told_apart) {
  constexpr int ranks = 3;
  const auto prove = [](Communicator& rank, int share, std::int64_t challenge, bool gathering) {
    CountingCommunicator counted(rank);
    RecordingCommunicator comm(counted);
    counted.begin("/");
    counted.begin("/step");
    const auto bytes = std::as_bytes(std::span(&challenge, 1));
    if (gathering) {
      (void)comm.all_gather_bytes(share == 1 ? bytes : bytes.first(0));
    } else {
      std::vector<MessageBytes> send(ranks);
      send[0].resize(share == 1 ? bytes.size() : 0);
      std::ranges::copy(bytes.first(send[0].size()), send[0].begin());
      (void)comm.all_to_all_bytes(send);
    }
    counted.end();
    counted.end();
    return comm.take_record();
  };
  for (const bool gathering : {false, true}) {
    run_ranks(ranks, [&](Communicator& comm) {
      const ContributionRecord first = prove(comm, comm.rank(), 7, gathering);
      const ContributionRecord second = prove(comm, (comm.rank() + 1) % ranks, 8, gathering);
      const std::optional<Parting> parting = compare_turned(first, second, comm);
      ASSERT_TRUE(parting.has_value());
      EXPECT_THAT(parting->shares, ElementsAre(1));
      EXPECT_THAT(parting->silent, ElementsAre(0, 2));
    });
  }
}

ContributionRecord record_of(const std::vector<std::pair<std::string, std::uint64_t>>& calls, bool whole = true) {
  ContributionRecord record;
  record.whole = whole;
  for (const auto& [scope, digest] : calls) {
    record.scope_of.push_back(static_cast<std::uint32_t>(record.scopes.size()));
    record.scopes.push_back(scope);
    record.digests.push_back(digest);
  }
  return record;
}

TEST(ContributionRecord, what_one_record_lacks_is_no_difference) {
  const ContributionRecord later = record_of({{"/a", 1}, {"/a", 2}, {"/b", 3}});
  EXPECT_FALSE(first_difference(record_of({{"/a", 1}}), later).has_value());  // failed there
  EXPECT_EQ(first_difference(record_of({{"/a", 5}}), later)->call, 0U);
  // went on from an earlier job: "/a" was done in part
  EXPECT_FALSE(first_difference(record_of({{"/a", 2}, {"/b", 3}}, false), later).has_value());
  const std::optional<Difference> found = first_difference(record_of({{"/a", 2}, {"/b", 4}}, false), later);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->call, 2U);
  EXPECT_EQ(found->scope, "/b");
}

TEST(RecordingCommunicator, every_kind_of_contribution_counts) {
  for (int kind = 0; kind < 8; ++kind) {
    run_ranks(2, [kind](Communicator& ranks) {
      const auto run = [&](int wrong) {
        CountingCommunicator counted(ranks);
        RecordingCommunicator comm(counted);
        counted.begin("/");
        counted.begin("/a");
        const auto value = [&](int of) { return of == wrong && comm.rank() == 0 ? 9 : 8; };
        std::vector<E> elements{E(F::from_unsigned(static_cast<std::uint64_t>(value(0))))};
        comm.all_reduce_sum(std::span(elements));
        std::vector<std::int64_t> sum{value(1)}, maximum{value(2)};
        comm.all_reduce_sum(std::span(sum));
        comm.all_reduce_max(std::span(maximum));
        (void)comm.all_gather_bytes(std::vector(1, static_cast<std::byte>(value(3))));
        (void)comm.all_to_all_bytes(std::vector(2, MessageBytes(1, static_cast<std::byte>(value(4)))));
        MessageBytes shared(1, static_cast<std::byte>(value(5)));
        comm.broadcast_bytes(shared, 0);
        (void)comm.all_gather_known(std::vector(1, static_cast<std::byte>(value(6))), std::vector<std::size_t>(2, 1));
        (void)comm.gather_shared(std::vector(1, static_cast<std::byte>(value(7))));
        counted.end();
        counted.end();
        return comm.take_record();
      };
      const std::optional<Difference> found = first_difference(run(-1), run(kind));
      ASSERT_EQ(found.has_value(), ranks.rank() == 0);
      if (found) {
        EXPECT_EQ(found->call, static_cast<std::uint64_t>(kind));
      }
    });
  }
}

}  // namespace
}  // namespace tessera::test
