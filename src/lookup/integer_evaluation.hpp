#pragma once

#include "tensor/multilinear.hpp"

namespace tessera {

/// The multilinear extension of integers |values| < 2^48 at `point`; rows of zeros (the upper half of EXP) are skipped.
E evaluate_integers(std::span<const std::int64_t> values, std::span<const E> point);

}  // namespace tessera
