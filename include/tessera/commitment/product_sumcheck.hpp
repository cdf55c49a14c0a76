#pragma once

#include <tessera/memory/storage.hpp>
#include <tessera/transcript/transcript.hpp>

namespace tessera {

/// Two multilinear polynomials over the same variables, in the sum-check of sum_x a(x)*b(x).
struct ProductTables {
  SparseVector<E> a;
  SparseVector<E> b;
};

/// One round of sum over all `pairs` of sum_x a(x)*b(x) = claim over the lowest variable: sends h_1, h_2 (see
/// verify_sumcheck), binds the variable in all tables, sets claim to h(challenge) and returns the challenge.
E prove_product_round(ProverTranscript& transcript, std::span<ProductTables> pairs, E& claim);

}  // namespace tessera
