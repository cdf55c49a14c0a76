#pragma once

#include "field/ntt.hpp"

/// \file
/// Pieces of transforms, vectorised.

namespace tessera {

/// Twiddles of a transform of its own of 2^log_rows rows: [2^t - 1 + i] = w^i * 2^64 (Montgomery form), w of order
/// 2^(t+1).
std::vector<F> own_twiddles(unsigned log_rows);

/// 2 is of this order, so that roots of order 64 at most are powers of it: twiddles of the first layers.
inline constexpr unsigned order_of_two = 192;
inline constexpr unsigned power_layers = 6;
/// own_twiddles()[k] = 2^(64 + twiddle_exponents()[k]) for these layers.
const std::vector<std::uint8_t>& twiddle_exponents();

// twiddles[2^t - 1 + i] belongs to the butterflies of layer t with low index i.

/// A transform of its own, with own_twiddles(log_rows), of 2^log_rows rows of `lanes` values that begin `stride` values
/// apart. Only every 2^log_padding-th row need be there, log_padding <= log_rows.
void transform_padded(F* rows, std::size_t stride, unsigned log_padding, unsigned log_rows, std::size_t lanes,
                      const F* twiddles);

/// A transform of 2^log_rows rows, log_rows >= 1, that begin `stride` values apart. It is done in `scratch`, as long as
/// all rows together: rows a power of two apart would fight for the same cache sets.
void transform_strided(F* rows, std::size_t stride, unsigned log_rows, std::size_t lanes, const F* twiddles,
                       F* scratch);

/// products[i] = factor * values[i].
void scale(F factor, const F* values, std::size_t count, F* products);
/// sums[i] += factor * values[i].
void add_scaled(F factor, const F* values, std::size_t count, F* sums);

/// Eight 16-bit integers, not aligned, times a factor: unsigned ones, or signed ones whose highest bit `flip` is.
struct ScaledIntegers {
  static constexpr std::size_t count = 8;
  const std::byte* values;
  std::uint16_t flip;  // 0 or 2^15
  F factor;
};
/// sums[i] += the sum over terms of factor * value i, for i < 8; at most 2^15 terms.
void add_scaled_integers(std::span<const ScaledIntegers> terms, F* sums);

}  // namespace tessera
