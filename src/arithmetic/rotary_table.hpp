#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tessera {

/// How a checkpoint scales angles: its rope_scaling.
enum class RopeScaling : std::uint8_t {
  none,
  linear,  ///< all divided by `factor`
  llama3,  ///< long waves divided by `factor`, short ones not, those between by interpolation
};

/// Rotary positions: angles position * theta^(-2i/m), scaled. Defaults are those of Llama 3's scaling.
struct Rope {
  double theta = 10000;
  RopeScaling scaling = RopeScaling::none;
  double factor = 1;
  double low_frequency = 1;          // low_freq_factor
  double high_frequency = 4;         // high_freq_factor
  double original_positions = 8192;  // original_max_position_embeddings
};

/// cos and sin of position * f_i, f_i = theta^(-i/half) as scaled, times 2^14 (Exponents::rotary), for positions below
/// `positions` and i < half (half of a head): all cos, (position, i) row-major, then all sin. Rounding of the real
/// values; the same on every machine, because nothing but integers is computed with. Throws std::invalid_argument
/// unless 1 <= theta <= 2^32, 2^-10 <= factors <= 2^32, low_frequency < high_frequency, 1 <= half <= 256 and 1 <=
/// positions <= 2^13; std::runtime_error for an entry that is too close to a tie, which no known model has (chance
/// below 10^-8).
std::vector<std::int16_t> rotary_table(const Rope& rope, std::size_t half, std::size_t positions);

}  // namespace tessera
