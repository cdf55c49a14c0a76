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

/// Sums over features of x and x^2 per token, of all ranks. Collective.
struct TokenSums {
  std::vector<std::int64_t> sum, square_sum;
};
TokenSums token_sums(const ChunkedTensor<std::int32_t>& x, const NormSpec& norm, Communicator& comm);

/// Dimensions of a sum over (.., feature, token) that what is of a token has, and what is of a feature.
std::vector<bool> all_but_features(const Shape& activation);
std::vector<bool> all_but_tokens(const Shape& activation);

}  // namespace tessera
