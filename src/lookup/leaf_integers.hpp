#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera {

/// The integers of consecutive leaves, wherever they lie: a < 2^31 in `narrow` (below 2^16) or `wide`, b in `narrow_b`
/// (int16) or `wide_b`, both null for range tables.
struct LeafIntegers {
  const std::uint16_t* narrow = nullptr;
  const std::uint32_t* wide = nullptr;
  const std::int16_t* narrow_b = nullptr;
  const std::int32_t* wide_b = nullptr;

  [[nodiscard]] bool has_a() const { return narrow != nullptr || wide != nullptr; }
  [[nodiscard]] bool has_b() const { return narrow_b != nullptr || wide_b != nullptr; }
  [[nodiscard]] std::uint32_t a(std::size_t leaf) const { return narrow != nullptr ? narrow[leaf] : wide[leaf]; }
  [[nodiscard]] std::int32_t b(std::size_t leaf) const { return narrow_b != nullptr ? narrow_b[leaf] : wide_b[leaf]; }
  [[nodiscard]] LeafIntegers from(std::size_t leaf) const {
    const auto moved = [leaf](auto* first) { return first != nullptr ? first + leaf : nullptr; };
    return {moved(narrow), moved(wide), moved(narrow_b), moved(wide_b)};
  }
};

}  // namespace tessera
