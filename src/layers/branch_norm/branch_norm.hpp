#pragma once

#include <optional>

#include "layers/value_norm/value_norm.hpp"
#include "subprotocols/residual.hpp"

namespace tessera {

struct Batch;        // subprotocols/inference.hpp
struct Linear;       // subprotocols/inference.hpp
class ProductInput;  // arithmetic/integer_product.hpp

/// A norm behind a branch, before its sum with the residual stream: h = rshift(A, S_h), A = W*y, and x_out - x =
/// rshift(P, S), P = h*I*Gamma (layers/value_norm).
///
/// What an architecture says of it.
struct BranchNormSpec : ValueNormSpec {
  int out_shift = 0;           // S
  std::string remainder_name;  // of rshift(P, S)
};

struct BranchNorm {
  BranchNormPlan norm;
  RecordedRange<std::int64_t> remainder;  // of rshift(P, S)
  int out_shift = 0;
  static BranchNorm declare(Builder& builder, const BranchNormSpec& spec);
};

struct ResidualStream;  // subprotocols/inference.hpp

/// Where what a branch makes goes.
struct BranchTarget {
  const ResidualStream& stream;
  const std::optional<BranchNorm>& norm;
};

/// batch.x += what a branch makes, W*input (+ bias*2^b) rounded, or normed and rounded. Collective.
void add_branch(const InferenceContext& context, const Linear& linear, const ProductInput& input,
                const BranchTarget& target, std::size_t block, const ClampedBlock& clamped, Batch& batch);

/// From the update x_out - x at `at`, the look-up point of (B,F,T), to A at a point: the same one without a norm.
/// `remainder`: of the update without a norm.
///   | # | from | message                                                    |
///   | 1 | P/V  | the steps of layers/value_norm, where there is a norm      |
template <class Side>
PointClaimFor<Side> branch_end(Side& context, RangeId remainder, const std::optional<BranchNorm>& norm,
                               const TensorPoint& at, const ScalarFor<Side>& update);

}  // namespace tessera
