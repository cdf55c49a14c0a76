#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera {

/// The integers of consecutive leaves, wherever they lie: a < 2^31 in `narrow` (below 2^16) or `wide`, less `added`
/// (modulo 2^16 and 2^32: signed values are looked up with an offset), b in `narrow_b` (int16) or `wide_b`, both null
/// for range tables.
struct LeafIntegers {
  const std::uint16_t* narrow = nullptr;
  const std::uint32_t* wide = nullptr;
  const std::int16_t* narrow_b = nullptr;
  const std::int32_t* wide_b = nullptr;
  std::uint32_t added = 0;

  [[nodiscard]] bool has_a() const { return narrow != nullptr || wide != nullptr; }
  [[nodiscard]] bool has_b() const { return narrow_b != nullptr || wide_b != nullptr; }
  [[nodiscard]] std::uint32_t a(std::size_t leaf) const {
    return narrow != nullptr ? static_cast<std::uint16_t>(narrow[leaf] + added) : wide[leaf] + added;
  }
  [[nodiscard]] std::int32_t b(std::size_t leaf) const { return narrow_b != nullptr ? narrow_b[leaf] : wide_b[leaf]; }
  [[nodiscard]] LeafIntegers from(std::size_t leaf) const {
    const auto moved = [leaf](auto* first) { return first != nullptr ? first + leaf : nullptr; };
    return {moved(narrow), moved(wide), moved(narrow_b), moved(wide_b), added};
  }
};

}  // namespace tessera
