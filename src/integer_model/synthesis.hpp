#pragma once

#include "checkpoints/checkpoint.hpp"
#include "integer_model/import.hpp"

namespace tessera {

/// A model of this shape with seeded random parameters, for measuring where trained weights cannot be shipped: weights
/// normal with deviation 1/sqrt(in) (output projections smaller by sqrt(2L)), embeddings 0.14 and positions 0.04 as in
/// trained GPT-2, gains around 1. Deterministic on any machine: the normal deviates are Irwin-Hall sums of integers,
/// each a function of seed, parameter and index.
///
/// Those of the Llama family have outliers, as trained ones do: without them all exponents would be finer, the powers
/// of the key all zero and t never wider than 16 bits. One channel of 256 (at least one of a place) of norms' outputs,
/// values, products and rotated pairs is 2^5 to 2^10 times the others, and as much smaller in the weights that read it;
/// as many channels of the residual stream get that much more than others from the embedding (up to 7.5) and from one
/// block's W_down, and small gains where norms read them, which leaves the outlier in the stream and in its norm.
///
/// Calibration is one pass of at most 256 tokens, where import runs tens of thousands: random ones between fillers, so
/// that a filler's attention to fillers alone and to a text are both seen. Products of a random model have long tails,
/// which a margin of 4 instead of 2 covers. Tokens are single bytes, then names; the last id ends a
/// text. Throws InputError for a shape that is not supported.
Model synthesize_model(const CheckpointConfig& config, std::uint64_t seed);

}  // namespace tessera
