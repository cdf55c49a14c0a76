#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <algorithm>
#include <numeric>
#include <thread>
#include "archive/codeword_file.hpp"
#include "cluster/agreement.hpp"
#include "cluster/job_plan.hpp"
#include "cluster/least_shared.hpp"
#include "cluster/serialization.hpp"
#include "words/codeword.hpp"

#include "world.hpp"

namespace tessera::test {
namespace {

MessageBytes bytes_of(int rank, std::size_t count) {
  MessageBytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(rank) * 31);
  }
  return bytes;
}

class Collectives : public testing::TestWithParam<std::size_t> {
 protected:
  Collectives() { comm().set_piece_bytes(GetParam()); }
  static MpiCommunicator& comm() { return world(); }
  [[nodiscard]] static int ranks() { return comm().size(); }
};

TEST_P(Collectives, sum_in_the_extension_is_exact) {
  std::vector<E> values;
  std::vector<E> expected(100);
  for (std::size_t i = 0; i < 100; ++i) {
    const auto value = [i](int rank) {
      const E x(F::from_unsigned(F::modulus - 1 - i * static_cast<std::size_t>(rank)), F::from_unsigned(i + 5));
      return x * x * x;
    };
    values.push_back(value(comm().rank()));
    for (int rank = 0; rank < ranks(); ++rank) {
      expected[i] += value(rank);
    }
  }
  comm().all_reduce_sum(std::span(values));
  EXPECT_EQ(values, expected);
}

TEST_P(Collectives, integer_sum_wraps_and_maximum) {
  std::vector<std::int64_t> sums(9, INT64_MAX), maxima(9);
  std::iota(maxima.begin(), maxima.end(), -5 - comm().rank());
  comm().all_reduce_sum(std::span(sums));
  comm().all_reduce_max(std::span(maxima));
  const auto wrapped =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(INT64_MAX) * static_cast<unsigned>(ranks()));
  EXPECT_EQ(sums, std::vector<std::int64_t>(9, wrapped));
  EXPECT_EQ(maxima.front(), -5);
  EXPECT_EQ(maxima.back(), 3);
}

TEST_P(Collectives, gather_of_unequal_lengths) {
  MessageBytes expected;
  for (int rank = 0; rank < ranks(); ++rank) {
    const MessageBytes part = bytes_of(rank, static_cast<std::size_t>(rank) * 50);
    expected.insert(expected.end(), part.begin(), part.end());
  }
  EXPECT_EQ(comm().all_gather_bytes(bytes_of(comm().rank(), static_cast<std::size_t>(comm().rank()) * 50)), expected);
  const std::vector<std::uint32_t> mine(2, static_cast<std::uint32_t>(comm().rank()));
  const std::vector<std::uint32_t> all = comm().all_gather(std::span<const std::uint32_t>(mine));
  ASSERT_EQ(all.size(), 2 * static_cast<std::size_t>(ranks()));
  EXPECT_EQ(all.back(), static_cast<std::uint32_t>(ranks() - 1));
}

/// Short and long parts; one rank has none.
TEST_P(Collectives, gather_of_known_lengths) {
  for (const std::size_t step : {0, 3, 50, 40'000}) {
    std::vector<std::size_t> lengths;
    MessageBytes expected;
    for (int rank = 0; rank < ranks(); ++rank) {
      lengths.push_back(step * static_cast<std::size_t>((rank + 1) % ranks()));
      const MessageBytes part = bytes_of(rank, lengths.back());
      expected.insert(expected.end(), part.begin(), part.end());
    }
    const std::size_t mine = lengths[static_cast<std::size_t>(comm().rank())];
    EXPECT_EQ(comm().all_gather_known(bytes_of(comm().rank(), mine), lengths), expected) << step;
  }
}

/// Ranks that share memory see the same as ranks that have their own, whatever of it they had before.
TEST_P(Collectives, gather_in_shared_memory) {
  comm().set_piece_bytes(std::max(GetParam(), std::size_t{1} << 16));
  for (int on_node = 1; on_node <= ranks(); ++on_node) {
    comm().set_ranks_on_node(on_node);
    const bool shares = on_node > 1 && ranks() % on_node == 0;
    SharedBytes kept;
    for (const std::size_t size : {1000, 1 << 21, 1 << 20, 3 << 20}) {
      const auto length = [&](int rank) { return size + static_cast<std::size_t>(rank) * 50; };
      MessageBytes expected;
      for (int rank = 0; rank < ranks(); ++rank) {
        const MessageBytes part = bytes_of(rank, length(rank));
        expected.insert(expected.end(), part.begin(), part.end());
      }
      const SharedBytes all = comm().gather_shared(bytes_of(comm().rank(), length(comm().rank())));
      EXPECT_TRUE(std::ranges::equal(all.bytes(), expected)) << size << ", " << on_node << " ranks a node";
      const bool large = expected.size() >= least_shared_bytes;
      EXPECT_EQ(all.shared(), shares && large) << size << ", " << on_node << " ranks a node";
      std::size_t received = 0;
      for (int rank = 0; rank < ranks(); ++rank) {
        const bool other =
            all.shared() ? rank != comm().rank() && rank % on_node == comm().rank() % on_node : rank != comm().rank();
        received += other ? length(rank) : 0;
      }
      EXPECT_EQ(all.received(), received);
      if (size == std::size_t{1} << 21) {
        kept = all;  // the next one is in the same place
      } else if (size == std::size_t{1} << 20 && shares) {
        EXPECT_EQ(all.data(), kept.data());
      }
    }
  }
  comm().set_ranks_on_node(ranks());
}

/// One short call after the other, ranks not in step: each has what this call's ranks gave, whatever memory it takes.
void expect_short_calls_told_apart(MpiCommunicator& comm, int calls) {
  const auto rank = static_cast<std::size_t>(comm.rank());
  const auto ranks = static_cast<std::size_t>(comm.size());
  for (int call = 0; call < calls; ++call) {
    if ((call + comm.rank()) % 7 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    std::vector<std::size_t> lengths(ranks);
    MessageBytes expected;
    for (std::size_t r = 0; r < ranks; ++r) {
      lengths[r] = (static_cast<std::size_t>(call) * 31 + r * 17) % 200;
      const MessageBytes part = bytes_of(static_cast<int>(r) + call, lengths[r]);
      expected.insert(expected.end(), part.begin(), part.end());
    }
    const MessageBytes mine = bytes_of(comm.rank() + call, lengths[rank]);
    ASSERT_EQ(call % 2 == 0 ? comm.all_gather_known(mine, lengths) : comm.all_gather_bytes(mine), expected) << call;
    std::vector<E> elements(1 + static_cast<std::size_t>(call) % 3, E(F::from_unsigned(rank + 1), F::one()));
    comm.all_reduce_sum(std::span(elements));
    ASSERT_EQ(elements.back(), E(F::from_unsigned(ranks * (ranks + 1) / 2), F::from_unsigned(ranks))) << call;
    std::vector<std::int64_t> extremes{call - comm.rank(), call + comm.rank()};
    comm.all_reduce_max(std::span(extremes));
    ASSERT_EQ(extremes, (std::vector<std::int64_t>{call, call + comm.size() - 1}));
  }
}

TEST_P(Collectives, short_calls_on_nodes_of_any_size) {
  for (int on_node = 1; on_node <= ranks(); ++on_node) {
    comm().set_ranks_on_node(on_node);
    expect_short_calls_told_apart(comm(), 200);
  }
  comm().set_ranks_on_node(ranks());
}

/// Around the lengths up to which ranks read what others wrote.
TEST_P(Collectives, short_calls_become_messages) {
  for (int on_node = 1; on_node <= ranks(); ++on_node) {
    comm().set_ranks_on_node(on_node);
    for (const std::size_t length : {8191, 8192, 8193, 16384, 16385, 21846, 32768, 32769}) {
      const std::vector<std::size_t> lengths(static_cast<std::size_t>(ranks()), length);
      MessageBytes expected;
      for (int rank = 0; rank < ranks(); ++rank) {
        const MessageBytes part = bytes_of(rank, length);
        expected.insert(expected.end(), part.begin(), part.end());
      }
      EXPECT_EQ(comm().all_gather_known(bytes_of(comm().rank(), length), lengths), expected) << length;
    }
    for (const std::size_t length : {127, 128, 129, 255, 256, 257}) {
      std::vector<E> elements(length, E(F::one(), F::from_unsigned(static_cast<std::uint64_t>(comm().rank()))));
      comm().all_reduce_sum(std::span(elements));
      const auto count = static_cast<std::uint64_t>(ranks());
      EXPECT_EQ(elements, std::vector(length, E(F::from_unsigned(count), F::from_unsigned(count * (count - 1) / 2))));
    }
  }
  comm().set_ranks_on_node(ranks());
}

/// Processes that show their files to nobody any more, as those of hiding proofs; told apart where nobody is root.
TEST_P(Collectives, private_processes_share_memory) {
  comm().set_piece_bytes(std::max(GetParam(), std::size_t{1} << 16));
  const int before = prctl(PR_GET_DUMPABLE);
  for (const int shown : {0, before}) {
    prctl(PR_SET_DUMPABLE, shown);
    comm().barrier();
    for (const std::size_t size : {std::size_t{5} << 20, std::size_t{6} << 20}) {  // more than anybody has had
      const SharedBytes all = comm().gather_shared(bytes_of(comm().rank(), size));
      EXPECT_EQ(all.shared(), ranks() > 1);
      EXPECT_EQ(all.bytes()[all.size() - 1], bytes_of(ranks() - 1, size).back());
    }
  }
}

TEST_P(Collectives, all_to_all) {
  const auto length = [](int from, int to) { return static_cast<std::size_t>(from * 40 + to * 3); };
  std::vector<MessageBytes> send;
  for (int to = 0; to < ranks(); ++to) {
    send.push_back(bytes_of(comm().rank() + to, length(comm().rank(), to)));
  }
  const std::vector<MessageBytes> received = comm().all_to_all_bytes(send);
  ASSERT_EQ(received.size(), static_cast<std::size_t>(ranks()));
  for (int from = 0; from < ranks(); ++from) {
    EXPECT_EQ(received[static_cast<std::size_t>(from)], bytes_of(from + comm().rank(), length(from, comm().rank())));
  }
}

TEST_P(Collectives, broadcast_from_every_rank) {
  for (int root = 0; root < ranks(); ++root) {
    MessageBytes bytes = comm().rank() == root ? bytes_of(root, 123) : MessageBytes(500);
    comm().broadcast_bytes(bytes, root);
    EXPECT_EQ(bytes, bytes_of(root, 123));
    bytes.clear();
    comm().broadcast_bytes(bytes, root);
    EXPECT_TRUE(bytes.empty());
  }
}

// whole messages, and messages cut into small pieces as those beyond 2^28 bytes are
INSTANTIATE_TEST_SUITE_P(PieceBytes, Collectives, testing::Values(std::size_t{1} << 28, 64, 17));

TEST(Serialization, plan_reaches_all_ranks) {
  const JobPlan plan{{1, 2, 50256}, 32, true, 16, "scratch/", 1, "checkpoints/", 0.5, {7, 9}};
  JobPlan mine = world().rank() == 0 ? plan : JobPlan{};
  broadcast_object(world(), mine);
  EXPECT_EQ(mine, plan);
}

TEST(Agreement, every_rank_learns_of_a_difference) {
  Digest digest{};
  EXPECT_NO_THROW(require_agreement(world(), "file", digest));
  digest[3] = static_cast<std::uint8_t>(world().rank() == world().size() - 1 ? 1 : 0);
  if (world().size() > 1) {
    EXPECT_THROW(require_agreement(world(), "file", digest), InputError);
  }
}

TEST(Agreement, an_error_of_one_rank_is_every_ranks) {
  const int last = world().size() - 1;
  EXPECT_NO_THROW(fail_together(world(), [] {}));
  const auto fail = [&] {
    if (world().rank() == last) {
      throw JobError("disk " + std::to_string(last) + " is full");
    }
  };
  try {
    fail_together(world(), fail);
    ADD_FAILURE() << "no error";
  } catch (const JobError& error) {
    EXPECT_EQ(error.what(), "disk " + std::to_string(last) + " is full");
  }
  EXPECT_THROW(fail_together(world(), [] { throw InputError("missing"); }), InputError);
}

TEST(CodewordFiles, are_the_same_for_any_number_of_ranks) {
  namespace fs = std::filesystem;
  const CodewordGeometry geometry{8, 18};  // four shards
  const std::size_t columns = std::size_t{1} << geometry.log_columns;
  std::vector<F> values(columns * geometry.rows);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = F::from_unsigned(i * 0x9E3779B97F4A7C15ULL);
  }
  std::string name = (fs::temp_directory_path() / ("tessera-codeword-" + std::to_string(::getpid()))).string();
  broadcast_object(world(), name);
  fs::create_directories(name);
  CodewordWriter writer(name, geometry, world());
  const Range mine = writer.columns();
  writer.append(8, std::span(values).subspan(8 * mine.first, 8 * mine.size()));
  EXPECT_EQ(writer.finish(Digest{7}), merkle_levels(hash_columns(values, 8)).back().front());
  const std::unique_ptr<StoredCodeword> store = open_codeword(name, world());
  EXPECT_EQ(store->parameters(), Digest{7});
  const std::vector<std::size_t> positions = {0, 1 << 16, columns - 1, 77777};
  const std::vector<F> opened = store->columns(positions);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    EXPECT_EQ(opened[8 * i + 5], values[8 * positions[i] + 5]);
  }
  EXPECT_THROW(store->columns(std::vector<std::size_t>{0, columns}), InputError);  // on every rank, no hang
  world().barrier();
  if (world().rank() == 0) {
    fs::remove_all(name);
  }
}

TEST(Renumbered, shares_move_on_and_a_rank_can_be_left_out) {
  const int rank = world().rank();
  const int ranks = world().size();
  const std::unique_ptr<MpiCommunicator> turned = world().renumbered((rank + 1) % ranks);
  ASSERT_NE(turned, nullptr);
  EXPECT_EQ(turned->rank(), (rank + 1) % ranks);
  EXPECT_EQ(turned->size(), ranks);
  const std::vector<int> order = turned->all_gather(std::span<const int>(&rank, 1));
  EXPECT_EQ(order.front(), ranks - 1);
  const std::unique_ptr<MpiCommunicator> others =
      world().renumbered(rank == 0 ? std::nullopt : std::optional<int>(rank));
  EXPECT_EQ(others == nullptr, rank == 0);
  if (others) {
    std::vector<std::int64_t> ones{1};
    others->all_reduce_sum(std::span(ones));
    EXPECT_EQ(ones.front(), ranks - 1);
    EXPECT_EQ(others->rank(), rank - 1);
  }
}

TEST(AllMeet, tells_whether_a_rank_stays_away) {
  EXPECT_TRUE(world().all_meet(std::chrono::seconds(60)));
  const std::unique_ptr<MpiCommunicator> same = world().renumbered(world().rank());
  if (world().rank() > 0) {
    EXPECT_FALSE(same->all_meet(std::chrono::milliseconds(300)));
  }
  world().barrier();
  EXPECT_TRUE(same->all_meet(std::chrono::seconds(60)));
}

}  // namespace
}  // namespace tessera::test
