#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace tessera {

/// The pads of a hiding proof: one for each element of E that is sent before the opening, in order, and the pairs of
/// them whose products some check needs. A function of key and lengths.
struct PadLayout {
  std::size_t pads = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // ascending, first <= second
};

}  // namespace tessera
