#pragma once

#include <array>
#include <optional>

#include "layers/cache/cache.hpp"
#include "layers/value_norm/value_norm.hpp"
#include "plan/builder.hpp"
#include "subprotocols/rotary.hpp"

namespace tessera {

struct InferenceContext;  // subprotocols/inference.hpp
struct Batch;
class Witness;  // plan/witness.hpp

/// q, k, v with rotary positions; several query heads may share a key/value head. A_Q = W_Q*u (+ b_Q*2^b), exact and
/// never rounded by itself; q = rshift(rotated A_Q, S), k likewise (the angles have exponent 14, so S <= 32); v =
/// rshift(W_V*u (+ b_V*2^b), S). 1/sqrt(m) is folded into W_Q and b_Q. Sources: seed qkv, equation (1); rotary.hpp.
///
/// Dimensions: B block, F feature, T token; G key/value head, J query head of its group, R half of a head, I place in a
/// half, P place in a head: q (B,G,J,R,I,T), k (B,G,R,I,T), v (B,G,P,T). Row (G,J,R,I) of W_Q is row head*m + half*m/2
/// + place of the checkpoint's, head = G*group + J.
///   | # | from | message                                                                                      |
///   | 1 | P/V  | scope q: reduction of all claims on q (look-up, attention) to one point r_q; pieces of q's    |
///   |   |      | remainder there: claims. Scopes k and v likewise. The left sides of the rshifts follow         |
///   | 2 | P/V  | rotation of q and k: A_Q and A_K, whose half, place and token coordinates are the same now     |
///   | - | P/V  | models with norms on heads: A_Q is P of layers/value_norm so far (S <= 40 then). Scope q: its     |
///   |   |      | steps; scope k likewise                                                                        |
///   | 3 | P    | scope q: bias without the token's coordinates: a claim. Scopes k and v likewise                |
///   | 4 | P/V  | scope q: matrix product with W_Q; its input is returned: a claim on u. Scopes k and v likewise |
/// Error: those of the parts. What is on the same footing as in the other layers (remainders of exact width, Pres
/// beside additive constants) is not said again.
///
/// What an architecture says of it; arrays are q, k, v.
struct GroupedQkvSpec {
  Shape feature;               // (B,F,T)
  std::array<Shape, 3> shape;  // (B,G,J,R,I,T), (B,G,R,I,T), (B,G,P,T)
  std::array<ParameterId, 3> weight{};
  std::array<std::optional<ParameterId>, 3> bias;
  std::array<int, 3> shift{}, bias_shift{};
  std::array<std::optional<ValueNormSpec>, 2> norm;  // of q and k, before the rotation; a model has both or none
  Rotary rotary;
  Integers u;  // what the branch reads
};

struct GroupedQkvPlan : GroupedQkvSpec {
  std::array<std::optional<HeadNormPlan>, 2> head_norm;
  std::array<RecordedRange<std::int16_t>, 3> value;
  std::array<RecordedRange<std::int64_t>, 3> remainder;
  static GroupedQkvPlan declare(Builder& builder, GroupedQkvSpec spec);
};

struct QkvCache;  // layers/qkv/qkv.hpp

/// q, k, v of a batch, from batch.input(): the cache's rows, which are those that this rank owns. Keys are kept
/// rotated.
void infer(const InferenceContext& context, const GroupedQkvPlan& qkv, std::size_t block, const Batch& batch,
           QkvCache& cache);

/// What norms on heads need. Collective.
void derive(Witness& witness, const GroupedQkvPlan& qkv, Communicator& comm);

/// Three claims on u.
template <class Side>
std::vector<WeightedClaimFor<Side>> run(Side& context, const GroupedQkvPlan& qkv,
                                        const QkvClaimsOf<ScalarFor<Side>>& consumers);

}  // namespace tessera
