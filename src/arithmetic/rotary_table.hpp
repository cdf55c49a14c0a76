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
  yarn,    ///< the same, with pairs between the two told by their number
  listed,  ///< each divided by a factor of its own
};

/// Rotary positions: angles position * theta^(-i/turned) of pairs i < turned, scaled; 0 of the others. Defaults are
/// those of Llama 3's scaling.
struct Rope {
  static constexpr std::size_t all = std::size_t{1} << 16;
  double theta = 10000;
  RopeScaling scaling = RopeScaling::none;
  double factor = 1;
  double low_frequency = 1;                // low_freq_factor
  double high_frequency = 4;               // high_freq_factor
  double original_positions = 8192;        // original_max_position_embeddings
  std::size_t turned = all;                // pairs that turn, at most: the first ones
  double first_mixed = 0, last_mixed = 0;  // yarn: pairs up to the first one keep their angles, from the last on not
  std::vector<double> pair_factors = {};   // listed: one a pair that turns
  friend bool operator==(const Rope&, const Rope&) = default;
};

/// Yarn: how far pair i of `turned` is from keeping its angle, 0 to 1.
double yarn_share(const Rope& rope, std::size_t i);

/// cos and sin of position * f_i, f_i = theta^(-i/min(half, turned)) as scaled, 0 from rope.turned on, times 2^14
/// (rotation_exponent), for positions below `positions` and i < half (half of a head): all cos, (position, i)
/// row-major, then all sin. Rounding of the real values; the same on every machine, because nothing but integers is
/// computed with. Throws std::invalid_argument unless 1 <= theta <= 2^32, 2^-10 <= factors <= 2^32, low_frequency <
/// high_frequency, 1 <= half <= 256 and 1 <= positions <= 2^13; std::runtime_error for an entry that is too close to a
/// tie, which no known model has (chance below 10^-8).
std::vector<std::int16_t> rotary_table(const Rope& rope, std::size_t half, std::size_t positions);

}  // namespace tessera
