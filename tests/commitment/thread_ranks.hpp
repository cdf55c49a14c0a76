#pragma once

#include <barrier>
#include <functional>
#include <tessera/cluster/communicator.hpp>
#include <thread>
#include <vector>

namespace tessera::testing {

/// Ranks as threads of one process: collectives through shared slots between two barriers.
class ThreadRanks {
 public:
  static void run(int ranks, const std::function<void(Communicator&)>& body) {
    ThreadRanks group(ranks);
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&group, &body, rank] {
        Rank comm(group, rank);
        body(comm);
      });
    }
  }

 private:
  using Bytes = std::vector<std::byte>;

  class Rank final : public Communicator {
   public:
    Rank(ThreadRanks& group, int rank) : group_(group), rank_(rank) {}
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return static_cast<int>(group_.slots_.size()); }
    void barrier() override { group_.barrier_.arrive_and_wait(); }
    void all_reduce_sum(std::span<E> values) override {
      reduce(values, [](E a, E b) { return a + b; });
    }
    void all_reduce_sum(std::span<std::int64_t> values) override {
      reduce(values, [](std::int64_t a, std::int64_t b) { return a + b; });
    }
    void all_reduce_max(std::span<std::int64_t> values) override {
      reduce(values, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
    }
    Bytes all_gather_bytes(std::span<const std::byte> mine) override {
      Bytes all;
      for (const Bytes& part : all_to_all_bytes(std::vector<Bytes>(group_.slots_.size(), {mine.begin(), mine.end()}))) {
        all.insert(all.end(), part.begin(), part.end());
      }
      return all;
    }
    std::vector<Bytes> all_to_all_bytes(const std::vector<Bytes>& send) override {
      group_.slots_[static_cast<std::size_t>(rank_)] = send;
      barrier();
      std::vector<Bytes> received;
      for (const std::vector<Bytes>& from : group_.slots_) {
        received.push_back(from[static_cast<std::size_t>(rank_)]);
      }
      barrier();
      return received;
    }
    void broadcast_bytes(Bytes& bytes, int root) override {
      bytes = all_to_all_bytes(std::vector<Bytes>(group_.slots_.size(), bytes))[static_cast<std::size_t>(root)];
    }

   private:
    template <class T, class Combine>
    void reduce(std::span<T> values, Combine combine) {
      const std::vector<T> all = all_gather<T>(std::span<const T>(values));
      for (std::size_t i = 0; i < values.size(); ++i) {
        T total = all[i];
        for (std::size_t r = 1; r < group_.slots_.size(); ++r) {
          total = combine(total, all[r * values.size() + i]);
        }
        values[i] = total;
      }
    }
    ThreadRanks& group_;
    int rank_;
  };

  explicit ThreadRanks(int ranks) : slots_(static_cast<std::size_t>(ranks)), barrier_(ranks) {}
  std::vector<std::vector<Bytes>> slots_;
  std::barrier<> barrier_;
};

}  // namespace tessera::testing
