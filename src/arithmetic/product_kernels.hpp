#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "arithmetic/digits.hpp"

/// \file
/// Exact products of int16 matrices in 32-bit sums, which are widened to 64 bits before they could overflow. A few
/// columns are cut into digits of 8 bits, several hundred products of which fit whatever the weights are. Of many
/// columns values of 15 bits and a sign are taken whole, few larger ones among them as a digit and an excess that is
/// added, and many as two or three digits: how many products fit is found from the weights, in what a look at each of
/// them costs.

namespace tessera {

/// Rows of W that fill the registers: calls take a multiple of so many where there are many columns.
std::size_t product_panel_rows();

/// products (rows, digits.padded_columns()) = W*X. Each at most 2^63 in absolute value.
void multiply_digits(const std::int16_t* weights, std::size_t rows, const Digits& digits,
                     std::span<std::int64_t> products);

}  // namespace tessera
