#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

struct E;  // an element of the extension field

/// Leaves new entries uninitialised.
template <class T>
struct UninitialisedAllocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = UninitialisedAllocator<U>;
  };
  template <class U>
  void construct(U* place) noexcept {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Values>
  void construct(U* place, Values&&... values) {
    ::new (static_cast<void*>(place)) U(std::forward<Values>(values)...);
  }
};

/// A message. Uninitialised after resize(): zeros where a message is going to lie cost as much as half of moving it.
using MessageBytes = std::vector<std::byte, UninitialisedAllocator<std::byte>>;

/// Bytes to read, which other ranks of the same machine may share.
class SharedBytes {
 public:
  SharedBytes() = default;
  /// Bytes in memory that the node's ranks share; `received`: how many of them came from other nodes to this rank.
  SharedBytes(std::shared_ptr<const void> keeper, std::span<const std::byte> bytes, std::size_t received)
      : keeper_(std::move(keeper)), bytes_(bytes), received_(received), shared_(true) {}
  /// A rank's own copy, of which it contributed `mine` bytes.
  static SharedBytes of(MessageBytes bytes, std::size_t mine) {
    const auto kept = std::make_shared<const MessageBytes>(std::move(bytes));
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
  virtual MessageBytes all_gather_bytes(std::span<const std::byte> mine) = 0;
  /// Every rank's bytes, concatenated by rank, everywhere. `lengths`: how many bytes each rank has, by rank, which
  /// every rank knows.
  virtual MessageBytes all_gather_known(std::span<const std::byte> mine, std::span<const std::size_t> /*lengths*/) {
    return all_gather_bytes(mine);
  }
  /// Every rank's bytes, concatenated by rank, everywhere; for many bytes. Ranks of a machine may share the result,
  /// which is valid until this is called again. Who keeps a shared one until then lets the next one have its memory.
  virtual SharedBytes gather_shared(std::span<const std::byte> mine) {
    return SharedBytes::of(all_gather_bytes(mine), mine.size());
  }
  /// send[r] goes to rank r; returns what each rank sent here, by rank.
  virtual std::vector<MessageBytes> all_to_all_bytes(std::vector<MessageBytes> send) = 0;
  /// Rank `root`'s bytes everywhere.
  virtual void broadcast_bytes(MessageBytes& bytes, int root) = 0;

  /// Every rank's values, concatenated by rank, everywhere.
  template <class T>
  std::vector<T> all_gather(std::span<const T> mine) {
    const MessageBytes bytes = all_gather_bytes(std::as_bytes(mine));
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
  MessageBytes all_gather_bytes(std::span<const std::byte> mine) override { return {mine.begin(), mine.end()}; }
  std::vector<MessageBytes> all_to_all_bytes(std::vector<MessageBytes> send) override { return send; }
  void broadcast_bytes(MessageBytes& /*bytes*/, int /*root*/) override {}
};

}  // namespace tessera
