#pragma once

#include "layers/logits/sampled.hpp"
#include "sumcheck/relation.hpp"
#include "tensor/beginnings.hpp"

namespace tessera {

/// Tokens that are sampled from the whole vocabulary, of which the proof shows nothing: each is what the public number
/// u hits among all tokens by id. Source: the far tokens' excess is ours, as the proof that the maximum is attained.
///
/// Tensors over (V,G); over (G) where it says so. r = rshift(a*L, S), w_l bits; W is the table of weights, 0 behind the
/// cut-off c of min-p; 0 <= w_D < 2^(w_l - 1).
///   score_max (G)      M = max_v r, w_l bits         score_remainder  of r, S bits
///   score_weight       w = W[d], d looked up          score_excess     x, w_D bits: r = M - d - x
///   best               m, no range: 1 for one token with r = M of each row
///   weight_sum (G)     Z = sum_v w
/// Identities; below 0 <= y means a range check of the virtual y:
///   a*L(v,g) = rq(r, remainder, S), r = M(g) - d - x for v < V, 2^16 - d - x = 0 behind them
///   w*x = 0            a weight is that of the true distance: W never rises, so a far token's is 0 with or without x
///   m*(w - W[0]) = 0, sum_v m = 1: some token has w = W[0], so d = 0, x = 0, r = M
///   limb_i (G)         u_i*Z + q_(i-1) = 2^16*q_i + r_i, u = sum u_i*2^(16i): q_2 = floor(u*Z/2^48)
///   low, high (G)      0 <= q_2 - P(t), 0 <= P(t + 1) - 1 - q_2, P(n) = sum_(v<n) w, t the generated token
/// Points p, p_G: those of (V,G), of (G).
///   | # | from | message                                                                                          |
///   | 1 | P    | M(p_g): claim; V: L(p)                                                                           |
///   | 2 | P/V  | scope `all`: as of the arg-max (logits.hpp)                                                      |
///   | 3 | V    | scope `sampling`, `attained`: gamma                                                              |
///   | 4 | P/V  | eq sum-check at p, degree 2: 0 = sum w*x + gamma*m*(w - W[0]); P: w, x's pieces, m at its end    |
///   | 5 |      | claim on m without a message: sum_v m at p_G is that of ones for g < G                           |
///   | 6 | P    | Z(p_G), three claims on Z with public weights: claims; V: limbs                                  |
///   | 7 | P/V  | reduction of three claims on w: Z(p_G), P(t) = q_2 - low, P(t + 1) = q_2 + high + 1              |
/// Errors: identities at p (2), p_G (7); 1/|E| of gamma.
struct DensePlan : SampledSpec {
  Shape rows;  // (G)
  CommittedDerived maximum;
  RangeId remainder;
  DerivedPair weight;
  DerivedRange excess;
  Derived best_values;
  TensorId best = 0;
  Derived sums;
  TensorId sum = 0;
  std::array<DerivedRange, uniform_limbs> quotient, limb_remainder;
  DerivedRange low, high;

  static DensePlan declare(Builder& builder, const SampledSpec& spec, const Shape& logits);
};

/// W of a statement: 0 behind its cut-off.
std::vector<std::int64_t> weights_within(std::uint32_t cutoff);

/// The public weights of the identities on tensors over (G) and (V,G). Both sides make them.
class DenseWeights {
 public:
  /// `position`: that of the first generated token in the conversation.
  DenseWeights(const DensePlan& plan, std::span<const std::uint32_t> tokens, std::size_t position, const Point& g);
  [[nodiscard]] std::vector<E> limb(std::size_t i) const;                     // on Z
  [[nodiscard]] const Beginnings& before() const { return before_; }          // on w
  [[nodiscard]] const Beginnings& with_token() const { return with_token_; }  // on w

 private:
  const DensePlan& plan_;
  std::size_t position_;
  std::vector<E> g_;  // beta(p_G, .)
  Beginnings before_, with_token_;
};

/// W[0], which only tokens of the maximum's score have.
inline constexpr std::int64_t full_weight = 1 << 22;

/// Summand of the check of weights: factors w, x, m.
struct AttainedRelation {
  E gamma;
  static constexpr std::size_t degree() { return 2; }
  static constexpr std::size_t factors() { return 3; }
  auto operator()(const auto& v) const {
    return v[0] * (v[1] + gamma * v[2]) - gamma * F::from_canonical(full_weight) * v[2];
  }
};
RoundKernel round_kernel(const AttainedRelation& relation);

/// What decides about one row's token: Z, P(t), w(t).
struct DenseChoice {
  std::int64_t sum = 0, before = 0, own = 0;
};

/// What comes after each of these tokens by their logits (own vocabulary rows, tokens), equal on all ranks. Collective.
std::vector<std::uint32_t> infer_dense(const InferenceContext& context, const LogitsPlan& logits,
                                       std::span<const std::int64_t> rows, Range tokens);
void derive_dense(Witness& witness, const LogitsPlan& logits, const Statement& statement, Communicator& comm);
/// Everything over (V,G) that follows from logits and these maxima of rows; of a maximum that no score reaches there is
/// no best token.
void set_scores(Witness& witness, const LogitsPlan& logits, std::span<const std::int64_t> maxima, Communicator& comm);
/// The sums of weights of each row: of all, before the statement's token, its own. Collective.
std::vector<DenseChoice> sums_of(const Witness& witness, const LogitsPlan& logits, const Statement& statement,
                                 Communicator& comm);
/// What follows from the sums; `position`: that of the first generated token.
void set_hits(Witness& witness, const DensePlan& plan, std::span<const DenseChoice> choices, std::size_t position);

template <class S>
std::vector<WeightedClaimOf<S>> run_dense(VerifierContext<S>& context, const LogitsPlan& logits);
std::vector<WeightedClaim> run_dense(ProverContext& context, const LogitsPlan& logits);

}  // namespace tessera
