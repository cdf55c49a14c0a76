#pragma once

#include <array>

#include "tensor/chunked_tensor.hpp"
#include "tensor/claim.hpp"
#include "plan/plan.hpp"
#include "sumcheck/sumcheck.hpp"

namespace tessera {

struct ProverContext;  // prover_context.hpp

/// Claims for the opening, in the order in which they arose.
struct ClaimLedger {
  std::vector<Claim> parameters;
  std::vector<Claim> witness;
};

/// A claim <w, T> = value on a virtual tensor, still to be reduced. The prover leaves `value` unused.
struct WeightedClaim {
  std::vector<Factor> weight;
  E value;
};

/// An evaluation claim T(point) = value.
struct PointClaim {
  TensorPoint point;
  E value;
};

/// What the look-up argument says about the plan's tensors at its common point.
class LookupValues {
 public:
  LookupValues(const Plan& plan, LookupClaims claims) : plan_(plan), claims_(std::move(claims)) {}

  /// The look-up point of columns with this shape.
  [[nodiscard]] TensorPoint point(const Shape& shape) const {
    return to_tensor_point(shape, claims_.column_point(shape));
  }
  /// The value of a range-checked tensor at its look-up point: sum_i 2^(16*i)*piece_i - offset*Pres.
  [[nodiscard]] E value(const RangeCheck& range) const;
  [[nodiscard]] E input(const PairLookup& pair) const { return claims_.a[pair.column]; }
  [[nodiscard]] E output(const PairLookup& pair) const { return claims_.b[pair.column]; }
  /// Claims on all committed pieces, table outputs and multiplicities at the look-up point, and on the committed values
  /// that their pieces determine.
  void add_claims(ClaimLedger& ledger) const;

 private:
  void add_pieces(ClaimLedger& ledger, const RangeCheck& range) const;
  const Plan& plan_;
  LookupClaims claims_;
};

/// All ranges of the plan, in declaration order.
std::vector<const RangeCheck*> all_ranges(const Plan& plan);

/// The verifier's side while it walks through the layers.
struct VerifierContext {
  const Plan& plan;
  const Statement& statement;
  VerifierTranscript& transcript;
  const LookupValues& lookup;
  ClaimLedger& ledger;

  /// Receives <w, T> for a parameter or witness tensor and records the claim.
  E parameter(std::string_view label, ParameterId tensor, std::vector<Factor> weight);
  E committed(std::string_view label, TensorId tensor, std::vector<Factor> weight);
};

/// Factors and points from pieces of points.
Point join(std::span<const E> high, std::span<const E> low);

}  // namespace tessera
