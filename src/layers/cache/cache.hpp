#pragma once

#include "layers/attention/attention.hpp"
#include "plan/builder.hpp"
#include "plan/context.hpp"

namespace tessera {

struct InferenceContext;  // subprotocols/inference.hpp
struct Batch;
struct QkvCache;  // layers/qkv/qkv.hpp
class Witness;    // plan/witness.hpp

/// Keys and values of the whole conversation, which attention reads: those of the state that the pass starts from, then
/// the new rows. Source: seed qkv, "Proving Passes over Output Tokens", for any number of new rows. The concatenation
/// is K(r) = K_past(r) + k~(r), k~ the new rows at their places (equations 3 and 4); k~(.., c) = sum_i beta(c, past +
/// i) k(.., i), so the seed's sum-check over the placed rows (equation 2) is a public weight of a claim on k, which the
/// claim reduction of q, k, v takes. In a beginning there is no past, and nothing is sent.
///   | # | from | message                                                                                     |
///   | 1 | P    | continuation: K_past, V_past at the points of attention's claims: claims on the past state  |
///   | 2 | V    | where a state is kept: point rho on a state's flat order, after the root of the kept state  |
///   | 3 | P    | K_kept(rho), V_kept(rho): claims on the kept state; continuation: K_past(rho), V_past(rho)  |
/// K_kept(rho) = K_past(rho) + sum_{i < kept rows} beta(rho_t, past + i) k(.., i): the kept state is the past one and
/// this pass's rows, and zero beyond. Error: bits of (B,A,S)/|E|. Keys and values may be
/// split into dimensions of their own: a state has one shape for each, of as many bits.
///
/// What an architecture says of it.
struct CacheSpec {
  HeadLayout heads;
  Shape q;                 // (B,A,T)
  StateShapes added_rows;  // (B,A,T): new keys and values
  StateShapes sequence;    // (B,A,past + T): what attention reads
  StateShapes state;       // (B,A,S), S all positions that the model has
  std::size_t past = 0;    // rows in the past state
  std::size_t added = 0;   // rows that are added to the kept one; 0: none is kept
  Recorded<std::int16_t> k, v;
};

struct CachePlan : CacheSpec {
  Recorded<std::int16_t> keys, values;  // of the whole sequence: k and v themselves in a beginning
  static CachePlan declare(Builder& builder, CacheSpec spec);
};

/// Past keys and values into an empty cache, from all ranks' shares by StateTensor: where heads straddle chunks a rank
/// needs more than its own. Collective.
void load(const CachePlan& plan, const std::vector<ChunkedTensor<std::int16_t>>& past, QkvCache& cache,
          Communicator& comm);
/// Records keys and values of a continuation: the past's with the first batch, and the batch's.
void infer(const InferenceContext& context, const CachePlan& plan, const QkvCache& cache, std::size_t block,
           const Batch& batch);

/// The past and the kept state.
void derive(Witness& witness, const CachePlan& cache, Communicator& comm);

/// Claims on q, k, v.
template <class S>
using QkvClaimsOf = std::array<std::vector<WeightedClaimOf<S>>, 3>;
using QkvClaims = QkvClaimsOf<E>;

/// `claims`: at head points, on q and on keys and values of the whole sequence.
template <class Side>
QkvClaimsOf<ScalarFor<Side>> run(Side& context, const CachePlan& cache,
                                 const AttentionClaimsOf<ScalarFor<Side>>& claims);

/// The weight along the first `count` of new rows of a claim at `position`, a point on positions: beta(position, past +
/// i).
Factor placed_rows(const Dimension& rows, std::size_t past, std::size_t count, const Point& position);
/// The weight along the positions of a state (2^bits) of a claim at `position`, which may have more or fewer variables.
Factor state_rows(unsigned bits, const Point& position);

}  // namespace tessera
