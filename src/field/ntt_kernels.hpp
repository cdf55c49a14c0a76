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

}  // namespace tessera
