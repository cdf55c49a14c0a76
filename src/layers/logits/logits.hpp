#pragma once

#include "base/range.hpp"
#include "plan/builder.hpp"
#include "plan/context.hpp"
#include "layers/logits/dense.hpp"

namespace tessera {

struct InferenceContext;  // subprotocols/inference.hpp
class Witness;            // plan/witness.hpp

/// Logits L_v = sum_f E[v,f]*u_f of the generated rows and their arg-max. Row g belongs to position n0 + g - 1.
///
/// Statement: diff(v,g) = [g<G]*[v<V]*(L_tok(g) - L(v,g) - [v < tok_g]) >= 0 by its 48-bit range check, and
/// L_tok(g) = L(tok_g, g) for g < G: token n0+g is the lowest arg-max of its row. Point p = look-up point of diff.
///   | # | from | message                                                                                         |
///   | 1 | P    | L_tok(p_g): claim; V: L(p_v,p_g) = L_tok(p_g)*sum_{v<V} beta(p_v,v)                             |
///   |   |      | - sum_{g<G} beta(p_g,g)*[v<tok_g](p_v) - diff(p)                                                |
///   | 2 | P/V  | sum-check over features of E(p_v,f)*u_sel(f,p_g), degree 2; P: E: claim, u_sel                  |
///   | 3 | P/V  | sum-check over (f,g), degree 3: L_tok(p_g) = sum_{f,g<G} beta(p_g,g)*E[tok_g,f]*u_sel(f,g);     |
///   |   |      | P: E at the tokens: claim, u_sel                                                                |
/// With a bias b(v), L(v,g) = E[v]*u + b(v)*2^s: in 2 the claim b(p_v) comes first and its part of L is taken off, in 3
/// the claim sum_{g<G} beta(p_g,g)*b(tok_g).
/// u_sel(f, r) = sum_{g<G} beta(r,g)*u(f, n0+g-1) is a claim on u with public weights on tokens: two are returned.
///
/// What an architecture says of it.
struct LogitsSpec {
  Shape logits, feature;    // (V,G), a generated token a chunk; (F,T)
  ParameterId embedding{};  // (V,F)
  std::size_t n_vocab = 0;
  Integers u;                                // the final norm's output
  std::optional<SampledSpec> sampling = {};  // tokens are sampled (sampled.hpp, dense.hpp), not the arg-max
  std::optional<ParameterId> bias = {};      // (V)
  int bias_shift = 0;                        // s
};

struct LogitsPlan : LogitsSpec {
  Derived token_logits;  // L_tok (G); the arg-max's
  TensorId token_logit = 0;
  std::optional<SampledPlan> sampled;
  std::optional<DensePlan> dense;
  RangeId difference;             // 48 bits; none of dense sampling
  Recorded<std::int64_t> values;  // (V,G); column g belongs to position prompt_length + g - 1

  static LogitsPlan declare(Builder& builder, LogitsSpec spec);
};

/// Logits of tokens [first, last) of u (n_embd, capacity): (own vocabulary rows, tokens) row-major.
RawVector<std::int64_t> infer_logits(const InferenceContext& context, const LogitsPlan& logits,
                                     std::span<const std::int32_t> u, Range tokens);
/// For each of these tokens what comes next, equal on all ranks: the lowest id whose logit is maximal, or what is
/// sampled. The logits, and candidates, are recorded as columns `generation`, `generation` + 1, ... Collective.
std::vector<std::uint32_t> infer_choices(const InferenceContext& context, const LogitsPlan& logits,
                                         std::span<const std::int32_t> u, Range tokens, std::size_t generation);
void derive(Witness& witness, const LogitsPlan& logits, const Statement& statement, Communicator& comm);

template <class S>
std::vector<WeightedClaimOf<S>> run(VerifierContext<S>& context, const LogitsPlan& logits);
std::vector<WeightedClaim> run(ProverContext& context, const LogitsPlan& logits);

/// Logits of all rows at a point of (V,G) are E*u there: sum-check over features, degree 2. Returns the claim on u.
template <class S>
WeightedClaimOf<S> run_all_logits(VerifierContext<S>& context, const LogitsPlan& logits, const S& logit);
WeightedClaim run_all_logits(ProverContext& context, const LogitsPlan& logits);

/// Weight along the token dimension that selects the rows of the generated tokens: w[n0+g-1] = beta(point, g), g < G.
Factor generated_rows(const Plan& plan, const Point& point);
/// 2^s of biases.
F bias_scale(const LogitsPlan& logits);
/// Weight of the biases (vocabulary) of given tokens: sum_i weights[i]*[v = tokens[i]].
std::vector<Factor> chosen_biases(const LogitsPlan& logits, std::span<const std::uint32_t> tokens,
                                  std::span<const E> weights);
/// Weight of a matrix (vocabulary, feature) that selects the rows of given tokens, bound at a point of the features:
/// sum_i weights[i]*[v = tokens[i]] along the vocabulary (2^bits).
std::vector<Factor> token_rows(unsigned bits, std::span<const std::uint32_t> tokens, std::span<const E> weights,
                               Point feature);

}  // namespace tessera
