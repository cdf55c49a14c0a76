#pragma once

#include <cstddef>
#include <cstdint>

#include "arithmetic/range_guard.hpp"

/// \file
/// Scores of attention.

namespace tessera {

/// z = rshift(products, shift), 0 < shift <= 16, of `count` sums: z mod 2^32 in `scores`, and what rounding leaves,
/// below 2^shift, in `remainders` unless that is null. Returns the smallest and the largest z, of none (INT64_MAX,
/// INT64_MIN). Sums are at least 2^shift away from the ends of int64.
Extent round_scores(const std::int64_t* products, std::size_t count, int shift, std::int32_t* scores,
                    std::uint16_t* remainders);

}  // namespace tessera
