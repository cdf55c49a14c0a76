#pragma once

#include <tessera/field/ntt.hpp>

/// \file
/// Pieces of transforms, vectorised. Inside the field library only.

namespace tessera {

/// Twiddles of a transform of its own of 2^log_rows rows: [2^t - 1 + i] = w^i * 2^64 (Montgomery form), w of order
/// 2^(t+1).
std::vector<F> own_twiddles(unsigned log_rows);

/// Layers first_layer .. log_rows-1 of a transform of 2^log_rows rows of `lanes` values; twiddles[2^t - 1 + i] belongs
/// to the butterflies of layer t with low index i.
void transform_group(F* rows, unsigned first_layer, unsigned log_rows, std::size_t lanes, const F* twiddles);

/// Fills the rows that padding left out: copies of the row before, which is what the first layers would make of it.
void replicate(F* rows, unsigned log_rows, std::size_t lanes, unsigned log_padding);

/// products[i] = factor * values[i].
void scale(F factor, const F* values, std::size_t count, F* products);
/// sums[i] += factor * values[i].
void add_scaled(F factor, const F* values, std::size_t count, F* sums);

}  // namespace tessera
