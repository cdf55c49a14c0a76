#pragma once

#include "plan/builder.hpp"
#include "plan/context.hpp"
#include "subprotocols/norm.hpp"

namespace tessera {

struct InferenceContext;  // subprotocols/inference.hpp

/// RMS norm of a value that is in no tensor of its own before: of every head's queries (or keys) before the rotation,
/// of those of all heads at once, or of what a branch makes before it is added to the residual stream. h = rshift(A,
/// S), V = sum of h^2 over the normed places + eps', sigma = floor(sqrt(V)), I = floor(numerator/sigma), P = h*I*Gamma,
/// exact: neither rounded nor looked up.
///
/// Statement: a claim P(p) = value. Points: t = look-up point of the columns of each token (and head).
///   | # | from | message                                                                                   |
///   | 1 | P    | S2(t) = sum over the normed places of h^2                                                  |
///   | 2 | P/V  | inverse root (subprotocols/norm.hpp) with V(t) = S2(t) + eps'*Pres                         |
///   | 3 | P/V  | lambda; sum-check over the value's dimensions, degree 4:                                   |
///   |   |      | P(p) + lambda*S2(t) = sum beta(p,.)*h*I*Gamma + lambda*beta(t,.)*h^2                       |
///   | 4 | P    | h at its end; I, gamma (and gamma_low) there: claims                                       |
///   | 5 | P/V  | reduction of the claims on h (look-up, step 4) to one point; pieces of h's remainder there: |
///   |   |      | claims. A there is returned                                                                |
///
/// What an architecture says of it.
struct ValueNormSpec {
  std::string name;                 // prefix of the declared tensors
  std::string title;                // in range errors
  Shape value;                      // (B,G,J,R,I,T) of queries, (B,G,R,I,T) of keys, (B,F,T) of a branch
  Shape token;                      // the same without the normed places
  std::size_t normed = 0;           // dimensions before the tokens that the norm is over
  ParameterId gamma{};              // (B, normed places)
  int shift = 0;                    // S of h's rshift
  Width bits = 16;                  // of h, signed
  std::size_t features = 0;         // normed places
  unsigned inverse_bits = 0;        // of I
  std::int64_t epsilon = 0;         // eps'
  std::int64_t norm_numerator = 0;  // C*2^8; behind a branch C*2^14

  /// Whether a dimension of `value` is left in `token`.
  [[nodiscard]] bool keeps(std::size_t dimension) const {
    const std::size_t last = value.dimensions().size() - 1;
    return dimension == last || dimension + normed < last;
  }
  /// Where there is a low piece, Gamma is gamma*2^9 + gamma_low.
  [[nodiscard]] std::optional<ParameterId> gamma_low() const { return low_piece(gamma); }
  /// Dimensions of `value` that are left in `token`, and those of gamma.
  [[nodiscard]] std::vector<bool> of_token() const;
  [[nodiscard]] std::vector<bool> of_gain() const;
};

/// T: int16_t, or int32_t for wider ones.
template <class T>
struct ValueNormPlan : ValueNormSpec, InverseRoot {
  RecordedRange<T> h;
  RecordedRange<std::uint16_t> h_remainder;
  Derived square_sum;  // virtual
  /// `of_value`, `of_token`: who owns what.
  static ValueNormPlan declare(Builder& builder, ValueNormSpec spec, Ownership of_value, Ownership of_token);
};
using HeadNormPlan = ValueNormPlan<std::int16_t>;
using BranchNormPlan = ValueNormPlan<std::int32_t>;

/// P in the place of A: `sums` are rows `rows` of a block, whole heads, (rows, tokens first .. first + n). Collective
/// where the norm is of all heads.
void infer(const InferenceContext& context, const HeadNormPlan& norm, std::size_t block, Range rows, std::size_t first,
           std::size_t n, std::span<std::int64_t> sums);
/// P in the place of A, of this rank's features of a branch, as above. Collective.
void infer(const InferenceContext& context, const BranchNormPlan& norm, std::size_t block, Range rows,
           std::size_t first, std::size_t n, std::span<std::int64_t> sums);
/// The remainders and complements. Collective where tokens are on every rank.
template <class T>
void derive(Witness& witness, const ValueNormPlan<T>& norm, Communicator& comm);

/// `product`: the claim on P. Returns one on A.
template <class Side, class T>
PointClaimFor<Side> run(Side& context, const ValueNormPlan<T>& norm, const PointClaimFor<Side>& product);

/// Factors beta(r,.), x, I, Gamma, beta(t,.): beta(r,.)*x*I*Gamma + lambda*beta(t,.)*x^2.
struct ValueNormRelation {
  static constexpr bool weighted = false;
  E lambda;
  static constexpr std::size_t degree() { return 4; }
  static constexpr std::size_t factors() { return 5; }
  auto operator()(const auto& v) const { return v[1] * second_factor(v); }
  /// The factor beside x: of degree 2 in hidden values.
  auto second_factor(const auto& v) const {
    const auto &at_u = v[0], &x = v[1], &inverse = v[2], &gamma = v[3], &at_token = v[4];
    return at_u * (inverse * gamma) + lambda * at_token * x;
  }
};
RoundKernel round_kernel(const ValueNormRelation& relation);

}  // namespace tessera
