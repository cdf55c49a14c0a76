#include "cluster/thread_communicator.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace tessera {
namespace {

/// What the ranks of one run share: a barrier that a stopped rank breaks, and one published pointer a rank.
class Group {
 public:
  explicit Group(int ranks) : published_(static_cast<std::size_t>(ranks)), ranks_(ranks) {}

  void arrive_and_wait() {
    std::unique_lock lock(mutex_);
    if (broken_) {
      throw RankStopped();
    }
    const std::size_t round = round_;
    if (++waiting_ == ranks_) {
      waiting_ = 0;
      ++round_;
      wake_.notify_all();
      return;
    }
    wake_.wait(lock, [&] { return round_ != round || broken_; });
    // a round that was completed counts even if a rank stopped right after it
    if (round_ == round) {
      throw RankStopped();
    }
  }

  /// Called when a rank ends, with its exception if it threw one: later collective calls cannot complete.
  void stop(const std::exception_ptr& exception) {
    const std::lock_guard lock(mutex_);
    if (exception != nullptr && first_ == nullptr) {
      first_ = exception;
    }
    broken_ = true;
    wake_.notify_all();
  }

  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] std::exception_ptr first() const { return first_; }
  [[nodiscard]] const void*& published(int rank) { return published_[static_cast<std::size_t>(rank)]; }

 private:
  std::vector<const void*> published_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::exception_ptr first_;
  int ranks_;
  int waiting_ = 0;
  std::size_t round_ = 0;
  bool broken_ = false;
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(Group& group, int rank) : group_(group), rank_(rank) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return group_.ranks(); }
  void barrier() override { group_.arrive_and_wait(); }

  void all_reduce_sum(std::span<E> values) override {
    reduce(values, [](E a, E b) { return a + b; });
  }
  void all_reduce_sum(std::span<std::int64_t> values) override {
    reduce(values, [](std::int64_t a, std::int64_t b) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    });
  }
  void all_reduce_max(std::span<std::int64_t> values) override {
    reduce(values, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
  }

  MessageBytes all_gather_bytes(std::span<const std::byte> mine) override {
    MessageBytes all;
    exchange(mine,
             [&](int, std::span<const std::byte> theirs) { all.insert(all.end(), theirs.begin(), theirs.end()); });
    return all;
  }

  std::vector<MessageBytes> all_to_all_bytes(std::vector<MessageBytes> send) override {
    if (send.size() != static_cast<std::size_t>(size())) {
      throw std::invalid_argument("all_to_all_bytes: one message a rank expected");
    }
    std::vector<MessageBytes> received;
    exchange(send, [&](int, const std::vector<MessageBytes>& theirs) {
      received.push_back(theirs[static_cast<std::size_t>(rank_)]);
    });
    return received;
  }

  void broadcast_bytes(MessageBytes& bytes, int root) override {
    MessageBytes result;
    exchange(bytes, [&](int rank, const MessageBytes& theirs) {
      if (rank == root) {
        result = theirs;
      }
    });
    bytes = std::move(result);
  }

 private:
  /// Publishes `mine` to every rank and reads what each rank publishes, in rank order. Nobody's data changes before all
  /// have read.
  template <class T, class Read>
  void exchange(const T& mine, const Read& read) {
    group_.published(rank_) = &mine;
    barrier();
    for (int rank = 0; rank < size(); ++rank) {
      read(rank, *static_cast<const T*>(group_.published(rank)));
    }
    barrier();
  }

  template <class T, class Combine>
  void reduce(std::span<T> values, const Combine& combine) {
    std::vector<T> total;
    bool equal_lengths = true;
    exchange(values, [&](int rank, std::span<const T> theirs) {
      if (rank == 0) {
        total.assign(theirs.begin(), theirs.end());
        return;
      }
      equal_lengths = equal_lengths && theirs.size() == total.size();
      for (std::size_t i = 0; equal_lengths && i < total.size(); ++i) {
        total[i] = combine(total[i], theirs[i]);
      }
    });
    if (!equal_lengths) {
      throw std::logic_error("all_reduce: ranks passed different lengths");
    }
    std::ranges::copy(total, values.begin());
  }

  Group& group_;
  int rank_;
};

}  // namespace

void run_ranks(int ranks, const std::function<void(Communicator&)>& body) {
  if (ranks < 1) {
    throw std::invalid_argument("run_ranks: at least one rank");
  }
  Group group(ranks);
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&group, &body, rank] {
      ThreadCommunicator communicator(group, rank);
      std::exception_ptr exception;
      try {
        body(communicator);
      } catch (...) {
        exception = std::current_exception();
      }
      group.stop(exception);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (group.first() != nullptr) {
    std::rethrow_exception(group.first());
  }
}

}  // namespace tessera
