#pragma once

#include "plan/context.hpp"

namespace tessera {

/// Requantization y = rshift(A, S): A + 2^(S-1) = y*2^S + rem, y and rem range-checked.
/// Statement: y(r) = value. Identity: A(r) = 2^S*y(r) + rem(r) - 2^(S-1)*Pres(r).
///   | # | from | message                                              |
///   | 1 | P    | the pieces of rem at r: claims on committed pieces    |
/// At the look-up point the pieces are known already and nothing is sent. No error of its own.
E requantized(const Shape& shape, const TensorPoint& at, E value, E remainder, unsigned shift);

/// Receives rem's pieces at `at` and returns A(at).
E verify_requantization(VerifierContext& context, const RangeCheck& remainder, const TensorPoint& at, E value);
void prove_requantization(ProverContext& context, const RangeCheck& remainder, const TensorPoint& at);

}  // namespace tessera
