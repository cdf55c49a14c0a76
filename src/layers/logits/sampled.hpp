#pragma once

#include "plan/builder.hpp"
#include "plan/context.hpp"

namespace tessera {

struct InferenceContext;  // subprotocols/inference.hpp
struct LogitsPlan;        // logits.hpp
class Witness;            // plan/witness.hpp

/// Sampled tokens: each is what the public number u hits among its row's k candidates, the k best tokens in the order
/// (L descending, id ascending), which the proof lists in clear with two counts (plan/sampling.hpp). Source: the order
/// of rules of vLLM (temperature, top-k, min-p, top-p); the identities are ours.
///
/// Tensors over C, one dimension, entry (j,g) = j*2^ceil(log2 G) + g, candidate j of row g; over (G) where it says so.
///   candidate_logit  L(j,g) = E[c(j,g)]*u(g), w_L bits           candidate_score  l = rshift(a*L, S), w_l bits
///   candidate_weight w = W[distance], distance = l(0) - l(j) for j < J', else 2^16, 0 <= w < 2^22 + 1
/// Identities, all linear but those of `all` and `chosen`; below 0 <= x means a range check of the virtual x:
///   logit_difference 0 <= [v no candidate]*(L(k-1,g) - L(v,g) - [v < c(k-1,g)]): no better token is left out
///   candidate_order  0 <= L(j) - L(j+1) - [c(j) >= c(j+1)]: the order, and that ids differ
///   near, far (G)    0 <= c - (l(0) - l(J'-1)), 0 <= [J' < k]*(l(0) - l(J') - c - 1): J' counts what min-p leaves
///   top_low, top_high (G)  0 <= p*Z' - 2^16*Z(J-1) - 1, 0 <= 2^16*Z(J) - p*Z', Z(n) the sum of the first n weights,
///                    Z' = Z(J'): J is the least with 2^16*Z(J) >= p*Z'
///   limb_i (G)       u_i*Z(J) + q_(i-1) = 2^16*q_i + r_i, u = sum u_i*2^(16i): q_2 = floor(u*Z(J)/2^48)
///   low, high (G)    0 <= q_2 - Z(j*), 0 <= Z(j* + 1) - 1 - q_2: the token is at place j*
/// Points p, p_C, p_G: those of logit_difference, of C, of (G).
///   | # | from | message                                                                                          |
///   | 1 | P    | L with weights of `boundary`: claim; V: the logits of all tokens at p                            |
///   | 2 | P/V  | scope `all`: as of the arg-max (logits.hpp)                                                      |
///   | 3 | P    | L(p_C): claim; V: a*L(p_C) = rq(l(p_C), remainder, S)                                            |
///   | 4 | P/V  | scope `chosen`: sum-check over (f,g), degree 2: L(p_C) = sum M(f,g)*u(f, n0+g-1),                |
///   |   |      | M(f,g) = sum_j beta(p_C,(j,g))*E[c(j,g),f]; P: M at its end, a claim on E; u_sel                 |
///   | 5 | P    | scope `sampling`: claims on L, l, w with public weights; V: the other identities                 |
/// With biases, L(j,g) = E[c(j,g)]*u(g) + b(c(j,g))*2^s: in 2 as of the arg-max; 4 begins with the claim
/// sum_(j,g) beta(p_C,(j,g))*b(c(j,g)), whose part of L is taken off.
/// Errors: one identity each at p, p_C (4) and p_G (9).
///
/// What is known of it before anything is declared.
struct SampledSpec {
  Sampling sampling;
  SampledWidths widths;
  std::size_t past = 0;   // position of the pass's first row
  std::size_t table = 0;  // `weights`
};

struct SampledPlan : SampledSpec {
  Shape candidates, rows;      // (C), (G)
  unsigned row_bits = 0;       // ceil(log2 G)
  Recorded<std::int32_t> ids;  // c
  CommittedValue<std::int64_t> logit;
  CommittedDerived score;
  DerivedRange remainder;  // of l
  DerivedRange order;
  DerivedPair weight;
  DerivedRange near, far, top_low, top_high;
  std::array<DerivedRange, uniform_limbs> quotient, limb_remainder;
  DerivedRange low, high;

  static SampledPlan declare(Builder& builder, const SampledSpec& spec, std::size_t generated);
  [[nodiscard]] std::size_t top_k() const { return sampling.top_k; }
  [[nodiscard]] std::size_t place(std::size_t candidate, std::size_t row) const { return candidate << row_bits | row; }
};

/// The public weights of the identities, on tensors over C, and what they say of constants. Both sides make them.
class SampledWeights {
 public:
  /// `position`: that of the first generated token in the conversation.
  SampledWeights(const SampledPlan& plan, const Candidates& candidates, std::size_t position, const Point& c,
                 const Point& g);

  /// The weight on L of the logits of all tokens at a point of (V,G), and the constant that comes off.
  struct Boundary {
    std::vector<E> weight;
    E constant;
  };
  [[nodiscard]] Boundary boundary(const TensorPoint& at, std::size_t vocabulary) const;
  [[nodiscard]] std::vector<E> order() const;     // on L
  [[nodiscard]] std::vector<E> distance() const;  // on l
  [[nodiscard]] std::vector<E> near() const;      // on l
  [[nodiscard]] std::vector<E> far() const;       // on l
  [[nodiscard]] std::vector<E> top_low() const;   // on w, and so on
  [[nodiscard]] std::vector<E> top_high() const;
  [[nodiscard]] std::vector<E> limb(std::size_t i) const;
  [[nodiscard]] std::vector<E> up_to(bool with_token) const;  // Z(j*), or Z(j* + 1)
  /// sum_g beta(p_G, g), the same of rows with J' < k, sum over (j,g) of beta(p_C,(j,g))*[c(j) >= c(j+1)], and of
  /// places that are not within.
  struct Constants {
    E rows, cut_rows, descents, without;
  };
  [[nodiscard]] Constants constants() const;
  /// Along the vocabulary: sum_{j,g} beta(p_C,(j,g))*beta(row,g) at c(j,g), with the feature's point.
  [[nodiscard]] std::vector<Factor> embedding_rows(unsigned bits, const Point& row, Point feature) const;
  /// beta(p_C, (j,g)) of all candidates, row by row, as their ids are listed.
  [[nodiscard]] std::vector<E> of_candidates() const;
  /// beta(p_C, (j,g)).
  [[nodiscard]] const E& at(std::size_t candidate, std::size_t row) const { return c_[plan_.place(candidate, row)]; }

 private:
  /// Adds factor*beta(p_G, row) to the first `count` places of a row.
  void add(std::vector<E>& weight, std::size_t row, std::size_t count, F factor) const;
  [[nodiscard]] std::vector<E> nothing() const { return std::vector<E>(c_.size()); }

  const SampledPlan& plan_;
  const Candidates& candidates_;
  std::size_t position_;
  std::vector<E> c_, g_;  // beta(p_C, .), beta(p_G, .)
};

/// What comes after each of these tokens by their logits (own vocabulary rows, tokens), equal on all ranks; candidates
/// are recorded as columns `generation`, ... Collective.
std::vector<std::uint32_t> infer_samples(const InferenceContext& context, const LogitsPlan& logits,
                                         std::span<const std::int64_t> rows, Range tokens, std::size_t generation);
void derive_sampled(Witness& witness, const LogitsPlan& logits, const Statement& statement);
/// Everything that is derived from candidates and what decides about each row.
void set_choices(Witness& witness, const LogitsPlan& logits, const std::vector<Choice>& choices);

template <class S>
std::vector<WeightedClaimOf<S>> run_sampled(VerifierContext<S>& context, const LogitsPlan& logits);
std::vector<WeightedClaim> run_sampled(ProverContext& context, const LogitsPlan& logits);

}  // namespace tessera
