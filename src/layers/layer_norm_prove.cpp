#include <tessera/layers/claim_reduction.hpp>
#include <tessera/layers/layer_norm.hpp>
#include <tessera/layers/requantization.hpp>
#include <tessera/protocol/witness.hpp>
#include <tessera/layers/prover_context.hpp>

namespace tessera {
namespace {

TensorPoint without_feature(const TensorPoint& point) {
  TensorPoint token(point.begin(), point.end() - 2);
  token.push_back(point.back());
  return token;
}

std::vector<Factor> feature_sum(const Shape& activation, const TensorPoint& token) {
  std::vector<Factor> weight = weight_at(token);
  weight.insert(weight.end() - 1, Factor::ones(activation.dimensions()[activation.dimensions().size() - 2].bits()));
  return weight;
}

/// A replicated per-token tensor as a dense table over its padded dimensions, in flat order.
std::vector<E> token_table(const IntegerTensor& tensor, const Shape& shape, Communicator& comm) {
  return contract(tensor, shape, std::vector<Axis>(shape.dimensions().size()), comm);
}

}  // namespace

void prove_layer_norm(ProverContext& context, const LayerNormTensors& tensors, const IntegerTensor& u,
                      std::vector<WeightedClaim> consumers) {
  ProverTranscript& transcript = context.transcript;
  Communicator& comm = context.comm;
  const LayerNormPlan& norm = *tensors.norm;
  const Witness& witness = context.witness;
  const auto scope = transcript.scope("layer_norm");
  consumers.insert(consumers.begin(), {weight_at(context.lookup.point(norm.activation)), E::zero()});
  const ReductionInput claims{std::move(consumers)};
  const ReducedClaims reduced =
      prove_claim_reduction(context, norm.activation, std::span(&u, 1), std::span(&claims, 1));
  prove_requantization(context, norm.u_remainder, reduced.point);

  const TensorPoint bias_point(reduced.point.begin(), reduced.point.end() - 1);
  context.parameter("bias", tensors.beta, weight_at(bias_point));
  const TensorPoint token = context.lookup.point(norm.token);
  const IntegerTensor& x = witness.tensors[tensors.x];
  const std::vector<Axis> keep_tokens = [&] {
    std::vector<Axis> axes(norm.activation.dimensions().size());
    axes[axes.size() - 2] = Factor::ones(norm.activation.dimensions()[axes.size() - 2].bits()).table();
    return axes;
  }();
  const std::vector<E> sums = contract(x, norm.activation, keep_tokens, comm);
  const std::vector<E> mu = token_table(witness.tensors[norm.mu], norm.token, comm);
  const std::vector<E> sigma = token_table(witness.tensors[norm.sigma], norm.token, comm);
  const std::vector<E> inverse = token_table(witness.tensors[norm.inverse], norm.token, comm);
  const std::vector<E> token_weights = eq_table(to_flat_point(norm.token, token));
  context.committed("sum", tensors.x, feature_sum(norm.activation, token),
                    evaluate(sums, to_flat_point(norm.token, token)));
  transcript.send("square_sum", witness.square_sum_at(*tensors.norm, token_weights));

  const TokenRelation per_token{F::from_signed(static_cast<std::int64_t>(context.plan.model.n_embd)),
                                transcript.challenge("lambda")};
  {
    const auto token_scope = transcript.scope("token");
    const Point at = to_flat_point(norm.token, token);
    const ProvenSumcheck sumcheck = prove_dense_sumcheck(transcript, per_token, {mu, sums, sigma, inverse}, at);
    const TensorPoint end = to_tensor_point(norm.token, sumcheck.point);
    context.committed("mu", norm.mu, weight_at(end), sumcheck.factors[0]);
    context.committed("sum", tensors.x, feature_sum(norm.activation, end), sumcheck.factors[1]);
    context.committed("sigma", norm.sigma, weight_at(end), sumcheck.factors[2]);
    context.committed("inverse", norm.inverse, weight_at(end), sumcheck.factors[3]);
  }

  const NormRelation relation{transcript.challenge("lambda")};
  const Shape& shape = norm.activation;
  const std::size_t dimensions = shape.dimensions().size();
  std::vector<bool> per_feature(dimensions, true);
  per_feature[dimensions - 1] = false;
  std::vector<bool> per_token_only(dimensions, true);
  per_token_only[dimensions - 2] = false;
  const Shape& gamma_shape = context.plan.parameter_layout.tensors()[tensors.gamma];
  const std::vector<E> gamma = contract(witness.parameters[tensors.gamma], gamma_shape,
                                        std::vector<Axis>(gamma_shape.dimensions().size()), comm);
  const std::vector<ChunkedFactor> factors{weight_factor(shape, {{weight_at(reduced.point), E::one()}}),
                                           tensor_factor(x),
                                           broadcast_factor(shape, mu, per_token_only),
                                           broadcast_factor(shape, inverse, per_token_only),
                                           broadcast_factor(shape, gamma, per_feature),
                                           broadcast_factor(shape, token_weights, per_token_only)};
  const Ownership ownership = std::visit([](const auto* tensor) { return tensor->ownership(); }, x);
  const ProvenSumcheck sumcheck = prove_chunked_sumcheck(transcript, relation, shape, ownership, factors, {}, comm);
  const TensorPoint end = to_tensor_point(shape, sumcheck.point);
  const TensorPoint token_end = without_feature(end);
  context.committed("x", tensors.x, weight_at(end), sumcheck.factors[1]);
  context.committed("mu", norm.mu, weight_at(token_end), sumcheck.factors[2]);
  context.committed("inverse", norm.inverse, weight_at(token_end), sumcheck.factors[3]);
  context.parameter("gamma", tensors.gamma, weight_at(TensorPoint(end.begin(), end.end() - 1)), sumcheck.factors[4]);
}

}  // namespace tessera
