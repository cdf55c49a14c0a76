#include "subprotocols/sum.hpp"

namespace tessera {

TensorPoint along(const TensorPoint& point, const std::vector<bool>& dimensions) {
  if (dimensions.empty()) {
    return point;
  }
  TensorPoint kept;
  for (std::size_t j = 0; j < point.size(); ++j) {
    if (dimensions[j]) {
      kept.push_back(point[j]);
    }
  }
  return kept;
}

TensorPoint place_of(const SumFactor& factor, const TensorPoint& end) {
  TensorPoint place = along(end, factor.along);
  if (factor.token) {
    place.push_back(*factor.token);
  }
  return place;
}

std::vector<Factor> feature_sum(const Shape& activation, const TensorPoint& token) {
  std::vector<Factor> weight = weight_at(token);
  weight.insert(weight.end() - 1, Factor::ones(activation.dimensions()[activation.dimensions().size() - 2].bits()));
  return weight;
}

namespace {

E public_weight(const SumFactor& factor, const TensorPoint& end) {
  E sum;
  for (const SumFactor::ScaledPoint& term : factor.points) {
    E weight = term.scale;
    for (std::size_t j = 0; j < end.size(); ++j) {
      weight *= eq(term.point[j], end[j]);
    }
    sum += weight;
  }
  return sum;
}

template <class S>
S parameter_value(VerifierContext<S>& context, const SumFactor& factor, const TensorPoint& end) {
  S value = context.parameter(factor.label, factor.gain, weight_at(end));
  if (const auto low = low_piece(factor.gain)) {
    value = value * two_to_the(gain_piece_bits) + context.parameter(factor.label + "_low", *low, weight_at(end));
  }
  return value;
}

}  // namespace

template <class S>
std::vector<S> sum_values(VerifierContext<S>& context, const Sum& sum, const TensorPoint& end) {
  std::vector<S> values;
  for (const SumFactor& factor : sum.factors) {
    const TensorPoint at = place_of(factor, end);
    switch (factor.kind) {
      case SumFactor::Kind::weight:
        values.push_back(public_weight(factor, at));
        break;
      case SumFactor::Kind::committed:
        values.push_back(context.committed(factor.label, factor.tensor, weight_at(at)));
        break;
      case SumFactor::Kind::summed:
        values.push_back(context.committed(factor.label, factor.tensor,
                                           feature_sum(context.plan.witness_shapes[factor.tensor], at)));
        break;
      case SumFactor::Kind::sent:
      case SumFactor::Kind::weighed:
        values.push_back(context.transcript.receive(factor.label));
        break;
      case SumFactor::Kind::parameter:
        values.push_back(parameter_value(context, factor, at));
        break;
    }
  }
  return values;
}

#define INSTANTIATE(S) template std::vector<S> sum_values(VerifierContext<S>&, const Sum&, const TensorPoint&);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
