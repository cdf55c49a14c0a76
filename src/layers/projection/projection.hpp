#pragma once

#include <optional>

#include "plan/builder.hpp"
#include "plan/context.hpp"
#include "layers/branch_norm/branch_norm.hpp"
#include "subprotocols/head_padding.hpp"

namespace tessera {

struct InferenceContext;  // subprotocols/inference.hpp
struct Batch;
class Witness;  // plan/witness.hpp

/// Output projection and its residual: x_mid - x_in = rshift(W_O*y + b_O*2^b, S), y unpadded. Returns the claim on y in
/// the padded head layout. W_O is (block, feature, y's features in the layout's dimensions).
///   | # | from | message                                                   |
///   | - | P/V  | a norm behind the branch: its steps (layers/branch_norm)   |
///   | 1 | P    | b_O(p_b, p_f): claim, if there is a bias                   |
///   | 2 | P/V  | matrix product W_O; its input, through U, is the claim on y |
///
/// What an architecture says of it.
struct ProjectionSpec {
  Shape feature, head_feature;  // (B,F,T); y's: (B,H*m_hat,T), split (B,G,J,P,T)
  HeadLayout heads;
  ParameterId weight{};
  std::optional<ParameterId> bias;
  int shift = 0, bias_shift = 0;
  unsigned residual_bits = 0;
  CommittedValue<std::int32_t> x_in, x_mid;
  Recorded<std::int16_t> y;                 // the attention's output
  std::optional<BranchNormSpec> norm = {};  // behind the branch
};

struct ProjectionPlan : ProjectionSpec {
  RecordedRange<std::uint16_t> remainder;  // where there is no norm behind
  std::optional<BranchNorm> normed;
  static ProjectionPlan declare(Builder& builder, ProjectionSpec spec);
};

/// x_mid, from the attention's y (features of all heads, batch.size).
void infer(const InferenceContext& context, const ProjectionPlan& projection, std::span<const std::int16_t> y,
           std::size_t block, Batch& batch);

/// What a norm behind needs. Collective.
void derive(Witness& witness, const ProjectionPlan& projection, Communicator& comm);

template <class Side>
WeightedClaimFor<Side> run(Side& context, const ProjectionPlan& projection);

}  // namespace tessera
