#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera {

/// How a model's angles differ from position * theta^(-2i/m): a checkpoint's rope_scaling.
struct RotaryScaling {
  enum class Kind : std::uint8_t {
    none,
    linear,  ///< all divided by `factor`
    llama3,  ///< long waves divided by `factor`, short ones not, those between by interpolation
  };
  Kind kind = Kind::none;
  double factor = 1.0;
  double low_freq_factor = 1.0;
  double high_freq_factor = 4.0;
  double original_positions = 8192.0;  // original_max_position_embeddings
};

/// cos and sin of position * f_i, f_i = theta^(-i/half) as scaled, times 2^14 (Exponents::rotary), for positions below
/// `positions` and i < half (half of a head): all cos, (position, i) row-major, then all sin. Rounding of the real
/// values; the same on every machine, because nothing but integers is computed with. Throws std::invalid_argument
/// unless 1 <= theta <= 2^32, 2^-10 <= factors <= 2^32, low_freq_factor < high_freq_factor, 1 <= half <= 256 and 1 <=
/// positions <= 2^13; std::runtime_error for an entry that is too close to a tie, which no known model has (chance
/// below 10^-8).
std::vector<std::int16_t> rotary_table(double theta, const RotaryScaling& scaling, std::size_t half,
                                       std::size_t positions);

}  // namespace tessera
