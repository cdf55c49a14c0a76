#pragma once

#include "base/range.hpp"
#include "plan/builder.hpp"
#include "plan/context.hpp"
#include "subprotocols/head_padding.hpp"

namespace tessera {

struct InferenceContext;  // subprotocols/inference.hpp
struct Batch;
class Trace;    // plan/trace.hpp
class Witness;  // plan/witness.hpp
struct QkvCache;

/// Causal attention with the soft-max between its two products, all blocks and heads at once: h heads of keys and
/// values (dimension G, index g), for each a group of query heads (dimension J; multi-head attention: one). Source:
/// seed multi_head_attention; soft-max by look-ups as in the integer transformer.
///
///   z = rshift(Z∘A, S), A = q*k^T, Z_ij = [j <= past + i], in a block with a window w [past + i - w < j <= past + i];
///   d = M - z where Z = 1, else INF;  e = EXP[d]; D_i = sum_j e_ij;  R = floor(2^46/D);  O = e*v;  y = rshift(O*R,
///   46).
/// M is as wide as scores can be. Under a key with exceptions a distance beyond the table's last row is that row, and
/// the list `far` has what is left: there e is 0, as it is for the distance itself, because EXP never rises.
///
/// Where a model caps its scores, d = M - z' with z' = CAP[z + 2^15], z of 16 bits: under a key with exceptions
/// clamped, and listed as `score`. CAP[2^15] is 0, so that masked places are what they are without a cap.
///
/// Statement: the claims on y (look-up, consumer). Points: w = look-up point of (B,G,J,T) rows, p = of the scores.
/// Points of y and O are taken as head points (subprotocols/head_padding.hpp), and k and v do not depend on j, so both
/// products leave the group's coordinate where it is.
///   | # | from | message                                                                                  |
///   | 1 | P/V  | reduction of the claims on y to y(r); requantization (3 pieces) gives (O*R)(r)           |
///   | 2 | P/V  | eq sum-check at r of O(.., r_p, .)*R over (B,G,J,T), degree 2; P: O(a), R(a): claim on R;  |
///   |   |      | a_p = r_p, because R is the same for all places                                          |
///   | 3 | P    | D(w) as a claim on e with weight one on keys; V: D(w) = 2^kappa*A'(w) + (T-1)(w) + Pres, |
///   |   |      | D - 1 - rho_R against its complement                                                     |
///   | 4 | P/V  | eq sum-check at w of R*D = 2^46*Pres - rho_R over rows, degree 2; P: R, D at its end:   |
///   |   |      | claims                                                                                   |
///   | 5 | P/V  | values, over (b,g,key), degree 3: O(a) = sum of                                          |
///   |   |      | beta(a_b,b)*beta(a_g,g)*e(b,g,a_j,a_t,key)*v(b,g,a_p,key); P: e: claim, v                |
///   | 6 | P    | sum_i beta(p_q,i)*[sum_{k<=past+i} beta(p_k,k)]*M(p_b,p_g,p_j,i): claim on M; z(p), then           |
///   |   |      | (Z∘A)(p). Where blocks have windows one claim for the blocks of each kind, over its keys. Where  |
///   |   |      | `far` is checked: that e is 0 there, reduced to a claim on e                                     |
///   | - | V    | with a cap what has been z(p) is z'(p), which the look-up of CAP says too; z(p) is its input     |
///   | - | P/V  | where the list `score` is checked, reduction of z(p) and its limits to another point p           |
///   | 7 | P/V  | masking: eq sum-check at p of Z*A(p_b,p_g,p_j,..) over (Q,K), degree 2; P: A(c); V evaluates Z(c); |
///   |   |      | c_b, c_g, c_j = p_b, p_g, p_j, because Z is the same for all. Where blocks have windows, over     |
///   |   |      | (B,Q,K): c_b is where it ends                                                                    |
///   | 8 | P/V  | scores, over (b,g,x), degree 3: A(c) = sum of                                                    |
///   |   |      | beta(c_b,b)*beta(c_g,g)*q(b,g,c_j,x,c_q)*k(b,g,x,c_k); P: q, k                                   |
/// Returns claims at head points: of q (block, head, group, place, T) and of k, v (block, head, place, all keys).
/// Every entry of e but e(0) is a multiple of 2^kappa, so T = D mod 2^kappa counts the keys with d = 0, and T-1 >= 0
/// says that there is one; with d >= 0 everywhere M is the maximum.
///
/// What an architecture says of it.
struct AttentionSpec {
  HeadLayout heads;
  std::size_t past = 0;   // query i sees the keys up to past + i, those in its block's window
  Shape scores;           // (B,G,J,Q,K), causal, with windows by block; Q and K in tiles
  Shape rows;             // (B,G,J,T): one entry a query
  Shape head_feature;     // y's: (B,H*m_hat,T), split (B,G,J,P,T)
  std::size_t table = 0;  // of EXP
  std::optional<std::size_t> cap_table = {};
  unsigned kappa = 0;
  int score_shift = 0;
  unsigned key_bits = 0;  // log2 of the padded number of keys
  Recorded<std::int16_t> q, k, v;
};

struct AttentionPlan : AttentionSpec {
  Shape queries;                                         // (B,G,J,P,T): of y, and of q where it is padded
  Shape keys;                                            // (B,G,P,keys): of k and v where they are padded
  RecordedPair<std::int32_t> exponential;                // (distance, e)
  std::optional<RecordedPair<std::int32_t>> capped;      // (z + 2^15, z')
  Recorded<std::int32_t> score;                          // z mod 2^32; 0 above the diagonal
  RecordedRange<std::uint16_t> score_remainder;          // of rshift(Z*A, S)
  CommittedValue<std::int64_t> row_max;                  // M
  CommittedValue<std::int32_t> row_inverse;              // R
  DerivedRange division_remainder, division_complement;  // rho_R, D - 1 - rho_R
  CommittedDerived row_sum_quotient;                     // A'
  DerivedRange maximum_count;                            // T - 1
  RecordedRange<std::int16_t> y;
  RecordedRange<std::int64_t> y_remainder;
  Recorded<std::int64_t> row_sum;    // D, virtual
  Recorded<std::int64_t> value_sum;  // O, virtual

  /// (Q,K), where blocks have windows (B,Q,K).
  [[nodiscard]] Shape masks() const;
  /// What soft-max takes of the scores.
  [[nodiscard]] Recorded<std::int32_t> taken() const { return capped ? Recorded<std::int32_t>(*capped) : score; }

  static AttentionPlan declare(Builder& builder, AttentionSpec spec);
};

/// The key's tables of what becomes of a score: rows distance -> e and, with a cap, z + 2^15 -> z'.
struct ScoreTables {
  std::span<const std::int32_t> exponential, cap = {};
};

/// y of all query heads (features, batch.size), from q, k and v of the sequence so far.
std::vector<std::int16_t> infer(const InferenceContext& context, const AttentionPlan& attention,
                                const ScoreTables& tables, const QkvCache& cache, std::size_t block,
                                const Batch& batch);
/// Records what belongs to tiles of scores: one rank infers a head, but several may own tiles of it, and compute z, its
/// remainder and e of these again, from q, k and M as they are recorded, in their places. Fewer bytes move than tiles
/// have. Collective.
void record_tiles(const AttentionPlan& attention, const ScoreTables& tables, Trace& trace, Communicator& comm);
void derive(Witness& witness, const AttentionPlan& attention, Communicator& comm);

template <class S>
struct AttentionClaimsOf {
  PointClaimOf<S> q, k, v;
};
using AttentionClaims = AttentionClaimsOf<E>;

template <class S>
AttentionClaimsOf<S> run(VerifierContext<S>& context, const AttentionPlan& attention,
                         std::type_identity_t<std::vector<WeightedClaimOf<S>>> y_consumers);
AttentionClaims run(ProverContext& context, const AttentionPlan& attention, std::vector<WeightedClaim> y_consumers);

/// A head point of y as the (B,G,J,T) row that it lies in.
TensorPoint row_point(const TensorPoint& point);
/// A head point of y with other coordinates of the row.
TensorPoint with_row_point(const TensorPoint& point, const TensorPoint& row);
/// A point of y as a head point.
TensorPoint head_point_of(const AttentionPlan& attention, const TensorPoint& point);
/// A point of the scores as one of the masks, and with other coordinates of these.
TensorPoint mask_point(const AttentionPlan& attention, const TensorPoint& point);
TensorPoint with_mask_point(const AttentionPlan& attention, const TensorPoint& point, const TensorPoint& mask);
/// The weight on e that makes it D at a (B,G,J,T) point: one on every key.
std::vector<Factor> row_sum_weight(const TensorPoint& row, unsigned key_bits);
/// The weights on M in step 6, whose claims add up: along tokens beta(p_q,i)*sum over the keys that i sees of
/// beta(p_k,k); where blocks have windows, a weight for the blocks of each kind.
std::vector<std::vector<Factor>> seen_row_weights(const AttentionPlan& attention, const TensorPoint& point);
/// Z at a point of the scores, in absent rows and blocks as if they were present and without windows.
E mask_at(const AttentionPlan& attention, const TensorPoint& point);
/// The cap of a score of 16 bits.
inline std::int32_t capped_score(std::span<const std::int32_t> table, std::int32_t score) {
  return table[static_cast<std::size_t>(std::int64_t{score} + (std::int64_t{1} << (cap_table_log_size - 1)))];
}
/// The distance of a score from its row's maximum, both mod 2^32: a negative one is a liar's.
inline std::int64_t score_distance(std::int64_t maximum, std::int32_t score) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(maximum) - static_cast<std::uint32_t>(score));
}
/// The multilinear extension, at a point of the scores, of the places in present tiles that are not seen.
E masked_places(const AttentionPlan& attention, const TensorPoint& point);

}  // namespace tessera
