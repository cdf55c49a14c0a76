#pragma once

#include "plan/context.hpp"

namespace tessera {

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
/// u_sel(f, r) = sum_{g<G} beta(r,g)*u(f, n0+g-1) is a claim on u with public weights on tokens: two are returned.
std::vector<WeightedClaim> verify_logits(VerifierContext& context);
std::vector<WeightedClaim> prove_logits(ProverContext& context);

/// Weight along the token dimension that selects the rows of the generated tokens: w[n0+g-1] = beta(point, g), g < G.
Factor generated_rows(const Plan& plan, const Point& point);
/// Weight along the vocabulary that selects the rows of given tokens: sum_i weights[i]*[v = tokens[i]].
Factor token_rows(const Plan& plan, std::span<const std::uint32_t> tokens, std::span<const E> weights);

}  // namespace tessera
