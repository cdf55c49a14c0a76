#pragma once

#include "plan/builder.hpp"
#include "plan/context.hpp"
#include "subprotocols/norm.hpp"

namespace tessera {

struct InferenceContext;  // subprotocols/inference.hpp

/// RMS norm of every head's queries (or keys) before the rotation: h = rshift(A, S), V = sum over the head's m features
/// of h^2 + eps', sigma = floor(sqrt(V)), I = floor(C*2^8/sigma), P = h*I*Gamma, exact: neither rounded nor looked up.
///
/// Statement: a claim P(p) = value. Points: t = look-up point of the columns of each head and token.
///   | # | from | message                                                                                   |
///   | 1 | P    | S2(t) = sum over the head's features of h^2                                                |
///   | 2 | P/V  | inverse root (subprotocols/norm.hpp) with V(t) = S2(t) + eps'*Pres                         |
///   | 3 | P/V  | lambda; sum-check over (.., R, I, T), degree 4:                                            |
///   |   |      | P(p) + lambda*S2(t) = sum beta(p,.)*h*I*Gamma + lambda*beta(t,.)*h^2                       |
///   | 4 | P    | h at its end; I, Gamma there: claims                                                       |
///   | 5 | P/V  | reduction of the claims on h (look-up, step 4) to one point; pieces of h's remainder there: |
///   |   |      | claims. A there is returned                                                                |
///
/// What an architecture says of it.
struct HeadNormSpec {
  std::string name;                 // prefix of the declared tensors
  std::string title;                // in range errors
  Shape head, token;                // (B,G,J,R,I,T) and (B,G,J,T) of queries, (B,G,R,I,T) and (B,G,T) of keys
  ParameterId gamma{};              // (B,R,I)
  int shift = 0;                    // S of h's rshift
  std::size_t features = 0;         // m
  unsigned inverse_bits = 0;        // of I
  std::int64_t epsilon = 0;         // eps'
  std::int64_t norm_numerator = 0;  // C*2^8
};

struct HeadNormPlan : HeadNormSpec, InverseRoot {
  RecordedRange<std::int16_t> h;
  RecordedRange<std::uint16_t> h_remainder;
  Derived square_sum;  // virtual
  static HeadNormPlan declare(Builder& builder, HeadNormSpec spec);
};

/// P in the place of A: `sums` are rows `rows` of a block, whole heads, (rows, tokens first .. first + n).
void infer(const InferenceContext& context, const HeadNormPlan& norm, std::size_t block, Range rows, std::size_t first,
           std::size_t n, std::span<std::int64_t> sums);
/// The remainders and complements.
void derive(Witness& witness, const HeadNormPlan& norm);

/// `product`: the claim on P. Returns one on A.
template <class S>
PointClaimOf<S> run(VerifierContext<S>& context, const HeadNormPlan& norm,
                    std::type_identity_t<const PointClaimOf<S>&> product);
/// The value is left empty.
PointClaim run(ProverContext& context, const HeadNormPlan& norm, const PointClaim& product);

/// A point of (.., R, I, T) without half and place.
TensorPoint without_places(const TensorPoint& point);

}  // namespace tessera
