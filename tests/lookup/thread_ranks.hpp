#pragma once

#include <barrier>
#include <functional>
#include <mutex>
#include <tessera/cluster/communicator.hpp>
#include <thread>

namespace tessera::test {

/// Ranks as threads of this process.
class ThreadRanks {
 public:
  explicit ThreadRanks(int size) : size_(size), barrier_(size), slots_(static_cast<std::size_t>(size)) {}

  /// Runs body(communicator) on every rank.
  void run(const std::function<void(Communicator&)>& body) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size_; ++rank) {
      threads.emplace_back([this, rank, &body] {
        Rank comm(*this, rank);
        body(comm);
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }

 private:
  using Bytes = std::vector<std::byte>;

  class Rank final : public Communicator {
   public:
    Rank(ThreadRanks& ranks, int rank) : ranks_(ranks), rank_(rank) {}
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return ranks_.size_; }
    void barrier() override { ranks_.barrier_.arrive_and_wait(); }
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
      for (const Bytes& part : exchange(mine)) {
        all.insert(all.end(), part.begin(), part.end());
      }
      return all;
    }
    std::vector<Bytes> all_to_all_bytes(const std::vector<Bytes>& send) override { return send; }  // not used here
    void broadcast_bytes(Bytes& bytes, int root) override { bytes = exchange(bytes)[static_cast<std::size_t>(root)]; }

   private:
    std::vector<Bytes> exchange(std::span<const std::byte> mine) {
      ranks_.slots_[static_cast<std::size_t>(rank_)].assign(mine.begin(), mine.end());
      barrier();
      std::vector<Bytes> all = ranks_.slots_;
      barrier();
      return all;
    }
    template <class T, class Operation>
    void reduce(std::span<T> values, const Operation& operation) {
      const std::vector<Bytes> all = exchange(std::as_bytes(values));
      for (std::size_t r = 0; r < all.size(); ++r) {
        const T* part = reinterpret_cast<const T*>(all[r].data());
        for (std::size_t i = 0; i < values.size(); ++i) {
          values[i] = r == 0 ? part[i] : operation(values[i], part[i]);
        }
      }
    }
    ThreadRanks& ranks_;
    int rank_;
  };

  int size_;
  std::barrier<> barrier_;
  std::vector<Bytes> slots_;
};

}  // namespace tessera::test
