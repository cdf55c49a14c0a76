#pragma once

#include <functional>

#include "plan/context.hpp"

namespace tessera {

/// A factor of a sum-check as a layer lists it. From the list the prover makes the factors' tables and sends their
/// values at the end; the verifier receives them, records the claims and computes what is public.
struct SumFactor {
  enum class Kind : std::uint8_t {
    weight,     ///< public: sum_k scale_k*beta(point_k, .)
    committed,  ///< a committed tensor: its value is a claim
    summed,     ///< a committed tensor of (.., feature, token), summed over features: a claim with weight one on them
    sent,       ///< integers in no oracle: the value stands in the sum's end, for the layer
    weighed,    ///< the sum over features of (committed tensor - mean)*gain*beta(feature, .) per token: likewise
    parameter,  ///< a parameter, or two pieces of one: claims
  };
  struct ScaledPoint {
    TensorPoint point;
    E scale = E::one();
  };
  Kind kind = Kind::weight;
  std::string label = {};
  TensorId tensor = 0;                // a committed one
  ParameterId gain{};                 // a parameter
  Integers integers = {};             // of what is sent
  std::optional<TensorId> mean = {};  // of what is weighed: of (.., token); none: 0
  Point feature = {};                 // likewise
  std::vector<ScaledPoint> points = {};
  std::vector<bool> along = {};     // dimensions of the sum that the factor has; empty: all
  std::optional<Point> token = {};  // of a committed tensor whose tokens are not summed over: where they are

  static SumFactor weight(std::vector<ScaledPoint> points, std::vector<bool> along = {}) {
    return {.points = std::move(points), .along = std::move(along)};
  }
  static SumFactor committed(std::string label, TensorId tensor, std::vector<bool> along = {}) {
    return {.kind = Kind::committed, .label = std::move(label), .tensor = tensor, .along = std::move(along)};
  }
  static SumFactor summed(std::string label, TensorId tensor) {
    return {.kind = Kind::summed, .label = std::move(label), .tensor = tensor};
  }
  /// A committed tensor with a dimension more than the sum, its last.
  static SumFactor at_token(std::string label, TensorId tensor, Point token, std::vector<bool> along = {}) {
    SumFactor factor = committed(std::move(label), tensor, std::move(along));
    factor.token = std::move(token);
    return factor;
  }
  static SumFactor weighed(std::string label, TensorId tensor, std::optional<TensorId> mean, ParameterId gain,
                           Point feature) {
    return {.kind = Kind::weighed,
            .label = std::move(label),
            .tensor = tensor,
            .gain = gain,
            .mean = mean,
            .feature = std::move(feature)};
  }
  static SumFactor sent(std::string label, const Integers& integers) {
    return {.kind = Kind::sent, .label = std::move(label), .integers = integers};
  }
  static SumFactor parameter(std::string label, ParameterId id, std::vector<bool> along) {
    return {.kind = Kind::parameter, .label = std::move(label), .gain = id, .along = std::move(along)};
  }
};

/// Over a shape; with an eq factor at a point, if there is one: every rank computes all of it then, unless it is over a
/// sharded tensor.
struct Sum {
  Shape shape;
  std::vector<SumFactor> factors;  // those of the relation, in its order
  std::optional<TensorPoint> at = {};
  bool sharded = !at;
};

/// Where it ended, and every factor there.
template <class S>
struct SumEndOf {
  TensorPoint point;
  std::vector<S> values;
};

/// Coordinates of the dimensions that a factor has.
TensorPoint along(const TensorPoint& point, const std::vector<bool>& dimensions);
/// Where a factor's tensor is at the end of a sum.
TensorPoint place_of(const SumFactor& factor, const TensorPoint& end);
/// The weight that sums a tensor of (.., feature, token) over all features at a point of (.., token).
std::vector<Factor> feature_sum(const Shape& activation, const TensorPoint& token);

/// Receives the factors' values at the end of a sum, in their order.
template <class S>
std::vector<S> sum_values(VerifierContext<S>& context, const Sum& sum, const TensorPoint& end);

/// target = sum over the shape of relation(factors) (times beta(at, .)).
///   | # | from | message                                                                              |
///   | 1 | P/V  | sum-check over the shape, of the relation's degree                                    |
///   | 2 | P    | the factors at its end, in their order: claims, or values; V checks the relation there |
/// Error: degree*variables/|E|, with an eq factor (degree + 1)*variables/|E|.
template <class S, class R>
SumEndOf<S> run_sum(VerifierContext<S>& context, const R& relation, const Sum& sum,
                    const std::type_identity_t<S>& target, std::string_view mismatch) {
  const auto result =
      sum.at ? verify_eq_sumcheck(context.transcript, target, to_flat_point(sum.shape, *sum.at), relation.degree())
             : verify_sumcheck(context.transcript, target, sum.shape.bits(), relation.degree());
  SumEndOf<S> end{to_tensor_point(sum.shape, result.point), {}};
  end.values = sum_values(context, sum, end.point);
  context.transcript.check_equal(context.transcript.value(relation, end.values), result.value, mismatch);
  return end;
}

/// A product of hidden values that a hiding proof's verifier needs: of the relation's factors at the end.
using HiddenProduct = std::function<E(std::span<const E>)>;
SumEndOf<E> run_sum(ProverContext& context, const RoundKernel& kernel, const Sum& sum, const HiddenProduct& product);
template <class R>
SumEndOf<E> run_sum(ProverContext& context, const R& relation, const Sum& sum, const E& /*target*/,
                    std::string_view /*mismatch*/) {
  HiddenProduct product;
  if constexpr (requires(std::span<const E> values) { relation.second_factor(values); }) {
    product = [&](std::span<const E> values) { return relation.second_factor(values); };
  }
  return run_sum(context, round_kernel(relation), sum, product);
}

}  // namespace tessera
