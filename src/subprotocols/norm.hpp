#pragma once

#include "plan/builder.hpp"
#include "plan/context.hpp"

namespace tessera {

class Witness;  // plan/witness.hpp

/// What norms share: sigma = floor(sqrt(V)) and I = floor(numerator/sigma) of each token (or head and token), V > 0.
///
/// Identities: V = sigma^2 + rho_V, 0 <= rho_V <= 2*sigma, and numerator = I*sigma + rho_I, 0 <= rho_I < sigma: each
/// remainder and its complement are range-checked.
struct InverseRoot {
  CommittedValue<std::int32_t> sigma, inverse;         // 31, w_I bits
  DerivedRange root_remainder, root_complement;        // V-sigma^2, 2*sigma-(V-sigma^2): 32 each
  DerivedRange inverse_remainder, inverse_complement;  // rho_I, sigma-1-rho_I: 31 each

  /// Both columns, then their checks: a layer may declare something in between.
  void commit(Builder& builder, const std::string& name, const Shape& shape, Ownership ownership = {});
  void check(Builder& builder, const std::string& name, const Shape& shape, unsigned inverse_bits,
             Ownership ownership = {});
};

/// Checks both complements at the look-up point of `shape`.
template <class Side>
void check_complements(Side& context, const InverseRoot& root, const Shape& shape);

/// At the look-up point t of `shape`, what sum beta(t,.)*(V' - sigma^2 + lambda*I*sigma) is:
/// (V-sigma^2)(t) - known + lambda*(numerator*Pres - rho_I(t)), V = V' + known.
template <class Side>
ScalarFor<Side> root_target(Side& context, const InverseRoot& root, const Shape& shape, const ScalarFor<Side>& known,
                            std::int64_t numerator, const E& lambda);

/// The whole of it where V = S2 + epsilon and S2, a sum of squares, is not committed; returns S2(t).
///   | # | from | message                                                                                     |
///   | 0 | P    | S2(t); V(t) = S2(t) + epsilon*Pres                                                           |
///   | - | V    | checks 2*sigma-(V-sigma^2), sigma-1-rho_I against their complements at t                    |
///   | 1 | V    | lambda                                                                                      |
///   | 2 | P/V  | eq sum-check at t, degree 2:                                                                 |
///   |   |      | (V-sigma^2)(t) - V(t) + lambda*(numerator*Pres - rho_I(t)) = sum beta(t,.)*sigma*(lambda*I-sigma) |
///   | 3 | P    | sigma, I at its end: claims                                                                 |
/// Error: (1 + 3*variables)/|E|.
template <class Side>
ScalarFor<Side> inverse_root(Side& context, const InverseRoot& root, const Shape& shape, Derived square_sum,
                             std::int64_t epsilon, std::int64_t numerator);

/// Factors sigma, I: sigma*(lambda*I - sigma).
struct RootRelation {
  static constexpr bool homogeneous = true;
  E lambda;
  static constexpr std::size_t degree() { return 2; }
  static constexpr std::size_t factors() { return 2; }
  auto operator()(const auto& v) const {
    const auto &sigma = v[0], &inverse = v[1];
    return sigma * (lambda * inverse - sigma);
  }
};
RoundKernel round_kernel(const RootRelation& relation);

/// The remainders and complements, from V of each value of the declared shape in the order of its chunks.
void derive(Witness& witness, const InverseRoot& root, std::int64_t numerator, std::span<const std::uint64_t> variance);

/// What an architecture says of one norm over the features of an activation.
struct NormSpec {
  std::string name;         // prefix of the declared tensors
  std::string title;        // in range errors
  Shape activation, token;  // (B,F,T) and (B,T), or (F,T) and (T)
  CommittedValue<std::int32_t> x;
  ParameterId gamma{};
  int shift = 0;                    // S of u's rshift
  Width output_bits = 16;           // of u, signed
  std::size_t features = 0;         // d
  unsigned inverse_bits = 0;        // of I
  std::int64_t epsilon = 0;         // eps'
  std::int64_t norm_numerator = 0;  // C*2^xi

  [[nodiscard]] bool wide() const { return output_bits.bits > 16; }
};

/// The output of a norm; the columns of the inverse root are per token and replicated, u lies with the features of x.
struct NormOutput : InverseRoot {
  RecordedRange<std::int16_t> u;
  RecordedRange<std::int32_t> wide_u;  // in place of u where the norm is wide: a final one
  RecordedRange<std::int64_t> u_remainder;
  Derived square_sum;  // sum_f x^2 per token, virtual

  void declare_output(Builder& builder, const NormSpec& spec);
  /// u, whichever it is.
  [[nodiscard]] RangedIntegers output() const { return is_wide_ ? RangedIntegers(wide_u) : RangedIntegers(u); }

 private:
  bool is_wide_ = false;
};

/// What norms over features end with: A(r) = (x - mu)*I*Gamma at a point r of the activation, mu of a layer norm alone,
/// and S2(t) = sum_f x^2 at a point t of the token shape, down to claims on x, mu, I and Gamma. I depends on no feature
/// and Gamma on no token, so that r_f stays in the first sum where it is, and a_t in the second.
///   | # | from | message                                                                                     |
///   | 1 | P/V  | eq sum-check at (r_b, r_t) over (block, token), degree 2: A(r) = sum beta(.,.)*I*Y,            |
///   |   |      | Y = sum_f beta(r_f,f)*Gamma*(x - mu)                                                          |
///   | 2 | P    | I(a): claim; Y(a), at its end a                                                               |
///   | 3 | P/V  | scope gain: eq sum-check at (a_b, r_f) over (block, feature), degree 2:                         |
///   |   |      | Y(a) = sum beta(.,.)*Gamma*(x - mu) at a_t                                                    |
///   | 4 | P    | Gamma(c), x(c, a_t), mu(c_b, a_t) at its end c: claims                                         |
///   | 5 | P/V  | scope squares: eq sum-check at (t_b, 1/2, .., 1/2, t_t) over (block, feature, token), degree 2: |
///   |   |      | S2(t)/2^(feature variables) = sum beta(.,.)*x^2                                               |
///   | 6 | P    | x at its end: claim                                                                           |
/// Error: (3*(variables of 1, 3 and 5) + variables of a feature)/|E|. (x - mu needs no Pres: Gamma is zero on absent
/// features.)
template <class Side>
void run_normalization(Side& context, const NormSpec& norm, const InverseRoot& root, std::optional<TensorId> mean,
                       const PointClaimFor<Side>& normalized, const ScalarFor<Side>& square_sum);

/// Factors Gamma, x, mu: Gamma*(x - mu).
struct CentredGainRelation {
  static constexpr bool homogeneous = true;
  static constexpr std::size_t degree() { return 2; }
  static constexpr std::size_t factors() { return 3; }
  auto operator()(const auto& v) const { return v[0] * (v[1] - v[2]); }
};
RoundKernel round_kernel(const CentredGainRelation& relation);

/// Factor x: x^2.
struct SquareRelation {
  static constexpr bool homogeneous = true;
  static constexpr std::size_t degree() { return 2; }
  static constexpr std::size_t factors() { return 1; }
  auto operator()(const auto& v) const { return v[0] * v[0]; }
};
RoundKernel round_kernel(const SquareRelation& relation);

/// Sums over features of x and x^2 per token, of all ranks. Collective.
struct TokenSums {
  std::vector<std::int64_t> sum, square_sum;
};
TokenSums token_sums(const ChunkedTensor<std::int32_t>& x, const NormSpec& norm, Communicator& comm);

/// Dimensions of (.., feature, token) that what is of a token has.
std::vector<bool> all_but_features(const Shape& activation);

}  // namespace tessera
