#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "opening/vector_masks.hpp"

/// \file
/// Provers that add to the opening's vectors what does not come from a stream.

namespace tessera::test {

/// These elements of E.
class GivenMasks final : public VectorMasks {
 public:
  /// Both must outlive this.
  GivenMasks(const KeyedStream& unused, const std::vector<E>& given) : VectorMasks(unused), given_(given) {}

 private:
  [[nodiscard]] std::vector<E> elements(std::uint64_t first, std::size_t count) const override {
    const std::span<const E> found = std::span(given_).subspan(static_cast<std::size_t>(first), count);
    return {found.begin(), found.end()};
  }

  const std::vector<E>& given_;
};

/// What a liar's vectors are, of a rank that is alone.
struct VectorLie {
  /// Changes what is read of the stream, each time.
  std::function<void(std::uint64_t first, std::span<E>)> elements = {};
  /// Changes a vector with its fresh columns, before it is committed to.
  std::function<void(std::size_t round, std::span<E>)> values = {};
  /// What follows the last vector's columns in their leaves.
  std::function<std::shared_ptr<const LeafExtras>(std::shared_ptr<const LeafExtras>, const CommittedWord&)> leaves = {};
};

class LyingMasks final : public VectorMasks {
 public:
  /// Both must outlive this.
  LyingMasks(const KeyedStream& stream, const VectorLie& lie) : VectorMasks(stream), lie_(lie) {}
  void fill(const OpeningSchedule& schedule, std::size_t round, const ResidueShares& columns,
            std::span<E> values) const override {
    VectorMasks::fill(schedule, round, columns, values);
    if (lie_.values) {
      lie_.values(round, values);
    }
  }
  [[nodiscard]] std::shared_ptr<const LeafExtras> of_leaves(const OpeningSchedule& schedule) const override {
    std::shared_ptr<const LeafExtras> leaves = VectorMasks::of_leaves(schedule);
    return lie_.leaves ? lie_.leaves(leaves, schedule.vectors.back()) : leaves;
  }

 private:
  [[nodiscard]] std::vector<E> elements(std::uint64_t first, std::size_t count) const override {
    std::vector<E> found = VectorMasks::elements(first, count);
    if (lie_.elements) {
      lie_.elements(first, found);
    }
    return found;
  }

  const VectorLie& lie_;
};

}  // namespace tessera::test
