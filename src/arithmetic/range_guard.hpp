#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/errors.hpp"
#include "cluster/communicator.hpp"

namespace tessera {

/// A value of the integer transformer outside its range, thrown on all ranks of a run with the same message.
class RangeError : public JobError {
 public:
  using JobError::JobError;
};

/// Inclusive bounds of a value.
struct Bounds {
  std::int64_t low;
  std::int64_t high;
  [[nodiscard]] bool contains(std::int64_t value) const { return low <= value && value <= high; }
  /// Two's complement of this many bits.
  static constexpr Bounds signed_bits(unsigned bits) {
    return {-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
  }
  /// 0 .. 2^bits - 1.
  static constexpr Bounds unsigned_bits(unsigned bits) { return {0, (std::int64_t{1} << bits) - 1}; }
};

/// Collects range violations of this rank until the ranks agree on whether to go on, so that no rank waits for one that
/// has thrown. Between a violation and agree() values may be wrapped; none of them leaves the inference.
class RangeGuard {
 public:
  /// Names the part of the model that later violations belong to: a block, or no block.
  void enter(std::optional<std::size_t> block) { block_ = block; }
  /// Notes a violation if `value` is out of bounds; callable from several threads. The first tensor counts, and of it
  /// the value that is largest in absolute value.
  void check(std::string_view tensor, std::int64_t value, Bounds bounds) {
    if (!bounds.contains(value)) {
      report(tensor, value, bounds);
    }
  }
  /// Whether this rank has noted a violation. Not while other threads check.
  [[nodiscard]] bool violated() const { return !message_.empty(); }
  /// Throws RangeError on all ranks if any rank has noted a violation (the lowest rank's is named). Collective.
  void agree(Communicator& comm);
  /// Forgets violations, after agree() has thrown.
  void forget() { message_.clear(); }

 private:
  void report(std::string_view tensor, std::int64_t value, Bounds bounds);

  std::mutex mutex_;
  std::optional<std::size_t> block_;
  std::string tensor_;
  std::string message_;
  std::int64_t value_ = 0;
};

/// Smallest and largest value of a row, for one range check a row.
struct Extent {
  std::int64_t low = 0;
  std::int64_t high = 0;
  void include(std::int64_t value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void check(RangeGuard& guard, std::string_view tensor, Bounds bounds) const {
    guard.check(tensor, low, bounds);
    guard.check(tensor, high, bounds);
  }
};

}  // namespace tessera
