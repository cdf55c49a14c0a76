#pragma once

#include "plan/builder.hpp"
#include "plan/context.hpp"

namespace tessera {

struct InferenceContext;  // subprotocols/inference.hpp
struct Batch;
class Witness;  // plan/witness.hpp

/// What a branch without a norm before it reads: the residual stream, rounded: u = rshift(x, S), so that products with
/// weights have room.
///   | # | from | message                                                                        |
///   | 1 | P/V  | reduction of the claims on u to u(r); requantization gives x(r): a claim on x  |
///
/// What an architecture says of it.
struct StreamInputSpec {
  std::string name;  // of u
  Shape feature;     // (B,F,T)
  CommittedValue<std::int32_t> x;
  int shift = 0;    // S
  Width bits = 16;  // of u, signed
};

struct StreamInput : StreamInputSpec {
  RecordedRange<std::int32_t> u;
  RecordedRange<std::uint16_t> remainder;
  static StreamInput declare(Builder& builder, StreamInputSpec spec);
};

/// batch.wide_u from batch.x.
void infer(const InferenceContext& context, const StreamInput& input, std::size_t block, Batch& batch);

/// Nothing.
inline void derive(Witness& /*witness*/, const StreamInput& /*input*/, Communicator& /*comm*/) {}

/// `consumers`: claims on u besides its look-up.
template <class Side>
void run(Side& context, const StreamInput& input, std::vector<WeightedClaimFor<Side>> consumers);

}  // namespace tessera
