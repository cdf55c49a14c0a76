#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

struct E;  // an element of the extension field

/// Bytes to read, which other ranks of the same machine may share.
class SharedBytes {
 public:
  SharedBytes() = default;
  /// In memory of the node's; `received`: how many of them came from other nodes to this rank.
  SharedBytes(std::shared_ptr<const void> keeper, std::span<const std::byte> bytes, std::size_t received)
      : keeper_(std::move(keeper)), bytes_(bytes), received_(received), shared_(true) {}
  /// A rank's own copy, of which it contributed `mine` bytes.
  static SharedBytes of(std::vector<std::byte> bytes, std::size_t mine) {
    const auto kept = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    SharedBytes result(kept, *kept, kept->size() - mine);
    result.shared_ = false;
    return result;
  }
  [[nodiscard]] bool shared() const { return shared_; }
  [[nodiscard]] const std::byte* data() const { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::size_t received() const { return received_; }

 private:
  std::shared_ptr<const void> keeper_;
  std::span<const std::byte> bytes_;
  std::size_t received_ = 0;
  bool shared_ = false;
};

/// What the sharded algorithms need from a group of ranks. All calls are collective and blocking; results do not depend
/// on timing or on the order of reduction (sums are exact in F). No mpi.h here; the MPI implementation is a library of
/// its own.
class Communicator {
 public:
  virtual ~Communicator() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  virtual void barrier() = 0;
  /// Element-wise sum over all ranks, result everywhere.
  virtual void all_reduce_sum(std::span<E> values) = 0;
  /// Element-wise wrapping 64-bit sum / maximum over all ranks, result everywhere.
  virtual void all_reduce_sum(std::span<std::int64_t> values) = 0;
  virtual void all_reduce_max(std::span<std::int64_t> values) = 0;
  /// Every rank's bytes, concatenated by rank, everywhere; lengths may differ.
  virtual std::vector<std::byte> all_gather_bytes(std::span<const std::byte> mine) = 0;
  /// The same where every rank knows how many bytes each of them has: `lengths`, by rank.
  virtual std::vector<std::byte> all_gather_known(std::span<const std::byte> mine,
                                                  std::span<const std::size_t> /*lengths*/) {
    return all_gather_bytes(mine);
  }
  /// The same for what is large: ranks of a machine may share the result, which stays until the next call of this. Who
  /// keeps a shared one until then lets the next one have its memory.
  virtual SharedBytes gather_shared(std::span<const std::byte> mine) {
    return SharedBytes::of(all_gather_bytes(mine), mine.size());
  }
  /// send[r] goes to rank r; returns what each rank sent here, by rank.
  virtual std::vector<std::vector<std::byte>> all_to_all_bytes(const std::vector<std::vector<std::byte>>& send) = 0;
  /// Rank `root`'s bytes everywhere.
  virtual void broadcast_bytes(std::vector<std::byte>& bytes, int root) = 0;

  /// Every rank's values, concatenated by rank, everywhere.
  template <class T>
  std::vector<T> all_gather(std::span<const T> mine) {
    const std::vector<std::byte> bytes = all_gather_bytes(std::as_bytes(mine));
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!bytes.empty()) {
      __builtin_memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
    }
    return values;
  }
};

/// One process: every collective is the identity.
class SelfCommunicator final : public Communicator {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  void barrier() override {}
  void all_reduce_sum(std::span<E> /*values*/) override {}
  void all_reduce_sum(std::span<std::int64_t> /*values*/) override {}
  void all_reduce_max(std::span<std::int64_t> /*values*/) override {}
  std::vector<std::byte> all_gather_bytes(std::span<const std::byte> mine) override {
    return {mine.begin(), mine.end()};
  }
  std::vector<std::vector<std::byte>> all_to_all_bytes(const std::vector<std::vector<std::byte>>& send) override {
    return send;
  }
  void broadcast_bytes(std::vector<std::byte>& /*bytes*/, int /*root*/) override {}
};

}  // namespace tessera
