#pragma once

#include <cstddef>

namespace tessera {

/// A range of rows, features, heads: first .. last - 1.
struct Range {
  std::size_t first = 0;
  std::size_t last = 0;
  [[nodiscard]] std::size_t size() const { return last - first; }
  [[nodiscard]] bool contains(std::size_t index) const { return first <= index && index < last; }
  [[nodiscard]] bool contains(Range other) const { return first <= other.first && other.last <= last; }
  friend bool operator==(const Range&, const Range&) = default;
};

}  // namespace tessera
