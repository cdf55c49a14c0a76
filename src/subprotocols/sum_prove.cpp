#include "subprotocols/sum.hpp"

#include <algorithm>

#include "plan/prover_context.hpp"
#include "plan/witness.hpp"

namespace tessera {
namespace {

/// A tensor over its padded dimensions, the first most significant.
std::vector<E> dense_table(const IntegerTensor& tensor, const Shape& shape, Communicator& comm) {
  return contract(tensor, shape, std::vector<Axis>(shape.dimensions().size()), comm);
}

std::vector<E> weight_table(const SumFactor& factor) {
  std::vector<E> table;
  for (const SumFactor::ScaledPoint& term : factor.points) {
    Point joined;
    for (const Point& coordinates : term.point) {
      joined.insert(joined.end(), coordinates.begin(), coordinates.end());
    }
    const std::vector<E> weights = eq_table(joined);
    table.resize(weights.size());
    std::ranges::transform(weights, table, table.begin(),
                           [&](const E& weight, const E& sum) { return sum + term.scale * weight; });
  }
  return table;
}

std::vector<E> parameter_table(const ProverContext& context, ParameterId id) {
  const auto table = [&](ParameterId piece) {
    return dense_table(context.witness.parameter(piece), context.plan.parameter_shape(piece), context.comm);
  };
  std::vector<E> values = table(id);
  if (const auto low = low_piece(id)) {
    std::ranges::transform(values, table(*low), values.begin(),
                           [](const E& high, const E& piece) { return high * two_to_the(gain_piece_bits) + piece; });
  }
  return values;
}

/// Over (.., token).
std::vector<E> weighed_features(const ProverContext& context, const SumFactor& factor) {
  std::vector<E> weights = parameter_table(context, factor.gain);  // over (.., feature)
  const std::vector<E> features = eq_table(factor.feature);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] *= features[i & (features.size() - 1)];
  }
  std::vector<E> sums = contract_features(context.witness.tensors[factor.tensor], weights, context.comm);
  if (!factor.mean) {
    return sums;
  }
  const std::vector<E> means =
      dense_table(context.witness.tensors[*factor.mean], context.plan.witness_shapes[*factor.mean], context.comm);
  const std::size_t before = weights.size() / features.size();
  const std::size_t tokens = sums.size() / before;
  for (std::size_t i = 0; i < before; ++i) {
    E all;
    for (std::size_t f = 0; f < features.size(); ++f) {
      all += weights[i * features.size() + f];
    }
    for (std::size_t t = 0; t < tokens; ++t) {
      sums[i * tokens + t] -= all * means[i * tokens + t];
    }
  }
  return sums;
}

/// What does not vary along all dimensions of its sum, or is on every rank.
std::vector<E> factor_table(const ProverContext& context, const SumFactor& factor) {
  if (factor.kind == SumFactor::Kind::weighed) {
    return weighed_features(context, factor);
  }
  if (factor.kind == SumFactor::Kind::weight) {
    return weight_table(factor);
  }
  if (factor.kind == SumFactor::Kind::parameter) {
    return parameter_table(context, factor.gain);
  }
  const Shape& shape = context.plan.witness_shapes[factor.tensor];
  std::vector<Axis> axes(shape.dimensions().size());
  if (factor.kind == SumFactor::Kind::summed) {
    const std::size_t feature = axes.size() - 2;
    axes[feature] = std::vector<E>(std::size_t{1} << shape.dimensions()[feature].bits(), E::one());
  }
  if (factor.token) {
    axes.back() = eq_table(*factor.token);
  }
  return contract(context.witness.tensors[factor.tensor], shape, axes, context.comm);
}

bool is_tensor(const SumFactor& factor) {
  return factor.along.empty() && !factor.token &&
         (factor.kind == SumFactor::Kind::committed || factor.kind == SumFactor::Kind::sent);
}

const IntegerTensor& tensor_of(const ProverContext& context, const SumFactor& factor) {
  return factor.kind == SumFactor::Kind::sent ? context.witness.view(factor.integers)
                                              : context.witness.tensors[factor.tensor];
}

ChunkedFactor chunked_factor(const ProverContext& context, const Shape& shape, const SumFactor& factor) {
  if (is_tensor(factor)) {
    return TensorFactor{tensor_of(context, factor)};
  }
  if (!factor.along.empty()) {
    return BroadcastFactor(shape, factor_table(context, factor), factor.along);
  }
  std::vector<ScaledWeight> weights;
  for (const SumFactor::ScaledPoint& term : factor.points) {
    weights.push_back({weight_at(term.point), term.scale});
  }
  return WeightFactor(shape, weights);
}

ProvenSumcheck sumcheck(ProverContext& context, const RoundKernel& kernel, const Sum& sum) {
  const Point at = sum.at ? to_flat_point(sum.shape, *sum.at) : Point();
  if (!sum.sharded) {
    std::vector<std::vector<E>> tables;
    for (const SumFactor& factor : sum.factors) {
      // what does not have all dimensions has the first ones
      const std::vector<E> table = factor_table(context, factor);
      tables.push_back(repeat_each(table, (std::size_t{1} << sum.shape.bits()) / table.size()));
    }
    return prove_dense_sumcheck(context.transcript, kernel, std::move(tables), at);
  }
  std::vector<ChunkedFactor> factors;
  for (const SumFactor& factor : sum.factors) {
    factors.push_back(chunked_factor(context, sum.shape, factor));
  }
  const auto first = std::ranges::find_if(sum.factors, is_tensor);
  return prove_chunked_sumcheck(context.transcript, kernel, sum.shape, ownership_of(tensor_of(context, *first)),
                                factors, at, context.comm);
}

void send_value(ProverContext& context, const SumFactor& factor, const TensorPoint& end, const E& value) {
  switch (factor.kind) {
    case SumFactor::Kind::weight:
      break;
    case SumFactor::Kind::committed:
      context.committed(factor.label, factor.tensor, weight_at(end), value);
      break;
    case SumFactor::Kind::summed:
      context.committed(factor.label, factor.tensor, feature_sum(context.plan.witness_shapes[factor.tensor], end),
                        value);
      break;
    case SumFactor::Kind::sent:
    case SumFactor::Kind::weighed:
      context.transcript.send(factor.label, value);
      break;
    case SumFactor::Kind::parameter:
      if (const auto low = low_piece(factor.gain)) {
        context.parameter(factor.label, factor.gain, weight_at(end));
        context.parameter(factor.label + "_low", *low, weight_at(end));
      } else {
        context.parameter(factor.label, factor.gain, weight_at(end), value);
      }
      break;
  }
}

}  // namespace

SumEndOf<E> run_sum(ProverContext& context, const RoundKernel& kernel, const Sum& sum, const HiddenProduct& product) {
  ProvenSumcheck proven = sumcheck(context, kernel, sum);
  const TensorPoint end = to_tensor_point(sum.shape, proven.point);
  for (std::size_t k = 0; k < sum.factors.size(); ++k) {
    send_value(context, sum.factors[k], place_of(sum.factors[k], end), proven.factors[k]);
  }
  if (product) {
    context.transcript.send_hidden("product", product(proven.factors));
  }
  return {end, std::move(proven.factors)};
}

}  // namespace tessera
