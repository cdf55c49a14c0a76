#pragma once

#include <span>
#include <string>

#include "arithmetic/rotary_table.hpp"

namespace tessera {

/// The scaling of rotary positions that divides the frequencies theta^(-2i/head_size) by these factors: Llama 3's, as
/// all of its models have it (low_freq_factor 1, high_freq_factor 4), trained for a power of two of positions; none if
/// all factors are 1. Throws InputError beginning with `what` if no such scaling has these factors, up to float32's
/// rounding.
Rope llama3_rope(double theta, std::size_t head_size, std::span<const float> factors, const std::string& what);

}  // namespace tessera
