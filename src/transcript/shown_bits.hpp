#pragma once

#include <cmath>

namespace tessera {

/// Bits of soundness as they are shown, in tenths: rounded down, so that what is less than a bound never looks as if it
/// had reached it. What is a millionth of a bit below a tenth is that tenth.
inline double shown_bits(double bits) { return std::floor(bits * 10 + 1e-5) / 10; }

}  // namespace tessera
