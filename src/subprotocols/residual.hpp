#pragma once

#include "plan/context.hpp"

namespace tessera {

/// The residual stream at the end of the blocks: x_out of block b is x_in of block b+1, and x_end for the last block.
/// At p, the look-up point of (B,F,T), the update x_out - x_mid is known from
///   | # | from | message                                                            |
///   | 1 | P    | x_in shifted by one block at p, x_end(p_f, p_t): claims            |
///   | 2 | P/V  | where x_in or x_end were clamped: that they are at their limits    |
struct ResidualEnd {
  Shape feature;               // (B,F,T)
  unsigned residual_bits = 0;  // w_x
  CommittedValue<std::int32_t> x_in, x_mid, x_end;
};

/// The list that x of the block after `block` belongs to.
struct ClampedBlock {
  ClampId list;
  std::size_t block = 0;  // in the list's tensor
};
ClampedBlock next_stream(const ResidualEnd& stream, std::size_t block);

/// The update at p, as it was before clamping.
template <class Side>
ScalarFor<Side> block_update(Side& context, const ResidualEnd& stream);

/// The weight along the block dimension that reads x_in one block later: head[b+1] = beta(point, b) for b < L-1.
Factor next_block(const Point& block, std::size_t blocks);

}  // namespace tessera
