#pragma once

#include "checkpoints/checkpoint.hpp"
#include "plan/key.hpp"

namespace tessera {

/// A key to plan with, of a model of this shape that need not exist: its exponents are those of a synthetic model of
/// the same family, heads and context that is one block deep and two heads wide. Widths of remainders, hence numbers of
/// look-ups, may differ a little from those of a trained model. It has no root: nothing can be verified with it. Throws
/// InputError for a shape that is not supported.
VerifyingKey key_of_shape(const CheckpointConfig& config);

}  // namespace tessera
