#pragma once

#include <array>

#include "tensor/beginnings.hpp"
#include "tensor/chunked_tensor.hpp"
#include "tensor/claim.hpp"
#include "plan/exceptions.hpp"
#include "plan/plan.hpp"
#include "plan/sampling.hpp"
#include "sumcheck/sumcheck.hpp"

namespace tessera {

struct ProverContext;  // prover_context.hpp

/// Oracles of the opening, in its order: past only in a continuation, kept only where the next one may follow.
enum OracleId : std::size_t { parameter_oracle, witness_oracle, past_oracle, kept_oracle };

/// Claims for the opening by oracle, in the order in which they arose.
template <class S>
class ClaimLedgerOf {
 public:
  ClaimLedgerOf() = default;
  explicit ClaimLedgerOf(const PassShape& pass)
      : has_past_(pass.past > 0), lists_(2U + (pass.past > 0 ? 1U : 0U) + (pass.keeps ? 1U : 0U)) {}
  void add(OracleId oracle, std::size_t tensor, std::vector<Factor> weight, S value) {
    lists_[place(oracle)].push_back({{tensor, std::move(weight)}, value});
  }
  [[nodiscard]] const std::vector<ClaimOf<S>>& operator[](OracleId oracle) const { return lists_[place(oracle)]; }
  /// The claims on each of the oracles that the pass has, in the opening's order.
  [[nodiscard]] std::span<const std::vector<ClaimOf<S>>> lists() const { return lists_; }

 private:
  [[nodiscard]] std::size_t place(OracleId oracle) const {
    return oracle == kept_oracle && !has_past_ ? std::size_t{past_oracle} : std::size_t{oracle};
  }
  bool has_past_ = false;
  std::vector<std::vector<ClaimOf<S>>> lists_{2};
};
using ClaimLedger = ClaimLedgerOf<E>;

/// A claim <w, T> = value on a virtual tensor, still to be reduced. The prover does not use `value`.
template <class S>
struct WeightedClaimOf {
  std::vector<Factor> weight;
  S value;
  const Places* places = nullptr;          // the weight, in the place of `weight`
  const Beginnings* beginnings = nullptr;  // likewise

  /// The weight's multilinear extension at a point of the tensor.
  [[nodiscard]] E weight_at(const TensorPoint& point) const {
    return places != nullptr       ? evaluate(*places, point)
           : beginnings != nullptr ? evaluate(*beginnings, point)
                                   : evaluate_weight(weight, point);
  }
};
using WeightedClaim = WeightedClaimOf<E>;

/// If the list is checked: that its values are at their limits joins the claims on its tensor, as the last one.
template <class S>
void add_limit_claim(const Exceptions& exceptions, ClampId list, std::vector<WeightedClaimOf<S>>& claims) {
  if (exceptions.checked(list)) {
    claims.push_back({{}, S(exceptions.limits(list)), &exceptions.places(list)});
  }
}

/// An evaluation claim T(point) = value.
template <class S>
struct PointClaimOf {
  TensorPoint point;
  S value;
};
using PointClaim = PointClaimOf<E>;

/// What the look-up argument says about the plan's tensors at its common point.
template <class S>
class LookupValuesOf {
 public:
  LookupValuesOf(const Plan& plan, LookupClaimsOf<S> claims) : plan_(plan), claims_(std::move(claims)) {}

  /// The look-up point of columns with this shape.
  [[nodiscard]] TensorPoint point(const Shape& shape) const {
    return to_tensor_point(shape, claims_.column_point(shape));
  }
  /// The value of a range-checked tensor at its look-up point: sum_i 2^(16*i)*piece_i - offset*Pres.
  [[nodiscard]] S value(const RangeCheck& range) const;
  [[nodiscard]] S value(RangeId range) const { return value(plan_.ranges[range.range]); }
  [[nodiscard]] S input(const PairLookup& pair) const { return claims_.a[pair.column]; }
  [[nodiscard]] S output(const PairLookup& pair) const { return claims_.b[pair.column]; }
  /// Claims on all committed pieces, table outputs and multiplicities at the look-up point, and on the committed values
  /// that their pieces determine.
  void add_claims(ClaimLedgerOf<S>& ledger) const;

 private:
  const Plan& plan_;
  LookupClaimsOf<S> claims_;
};
using LookupValues = LookupValuesOf<E>;

/// The verifier's side while it walks through the layers.
template <class S>
struct VerifierContext {
  using Scalar = S;
  const Plan& plan;
  const Statement& statement;
  VerifierView<S>& transcript;
  const LookupValuesOf<S>& lookup;
  ClaimLedgerOf<S>& ledger;
  const Exceptions& exceptions = Exceptions::none();
  const Candidates& candidates = Candidates::none();

  /// Receives <w, T> for a parameter or witness tensor and records the claim.
  S parameter(std::string_view label, ParameterId tensor, std::vector<Factor> weight) {
    return claim(label, parameter_oracle, plan.parameter_index[tensor], std::move(weight));
  }
  S committed(std::string_view label, TensorId tensor, std::vector<Factor> weight) {
    return claim(label, witness_oracle, tensor, std::move(weight));
  }
  /// Receives <w, T> for a tensor of a state and records the claim.
  S state(std::string_view label, OracleId oracle, StateTensor tensor, std::vector<Factor> weight) {
    return claim(label, oracle, tensor, std::move(weight));
  }
  /// Receives <w, T> for a tensor that is in no oracle: no claim.
  S derived(std::string_view label, Derived /*tensor*/, const Shape& /*shape*/, const std::vector<Factor>& /*weight*/) {
    return transcript.receive(label);
  }

 private:
  S claim(std::string_view label, OracleId oracle, TensorId tensor, std::vector<Factor> weight) {
    S value = transcript.receive(label);
    ledger.add(oracle, tensor, std::move(weight), value);
    return value;
  }
};

/// A sum over some coordinates of a product leaves those where they are that one of its factors does not depend on.
inline constexpr std::string_view unsummed_identity = "identity in the coordinates that no sum is over";

/// Layers have one text for both sides where these are alike: `Side` is a VerifierContext or the ProverContext, of
/// which it uses the same names (sides.hpp).
template <class Side>
using ScalarFor = typename Side::Scalar;
template <class Side>
using PointClaimFor = PointClaimOf<typename Side::Scalar>;
template <class Side>
using WeightedClaimFor = WeightedClaimOf<typename Side::Scalar>;

/// Factors and points from pieces of points.
Point join(std::span<const E> high, std::span<const E> low);

}  // namespace tessera
