#include "layers/layer_norm/layer_norm.hpp"
#include "subprotocols/requantization.hpp"
#include "plan/witness.hpp"
#include "plan/prover_context.hpp"

namespace tessera {
namespace {

/// Sums of x over features by token, in flat order.
std::vector<E> feature_sums(const IntegerTensor& x, const Shape& activation, Communicator& comm) {
  std::vector<Axis> axes(activation.dimensions().size());
  const std::size_t feature = axes.size() - 2;
  axes[feature] = std::vector<E>(std::size_t{1} << activation.dimensions()[feature].bits(), E::one());
  return contract(x, activation, axes, comm);
}

}  // namespace

void run(ProverContext& context, const LayerNormPlan& norm, std::vector<WeightedClaim> consumers) {
  ProverTranscript& transcript = context.transcript;
  Communicator& comm = context.comm;
  const Witness& witness = context.witness;
  const auto scope = transcript.scope("layer_norm");
  // all claims on u become one on A at the same point
  const TensorPoint u_point =
      prove_requantized_claims(context, norm.output_range(), norm.output(), norm.u_remainder, std::move(consumers));
  // B and the statistics of each token
  const TensorPoint bias_point(u_point.begin(), u_point.end() - 1);
  context.parameter("bias", norm.beta, weight_at(bias_point));
  const TensorPoint token = context.lookup.point(norm.token);
  const Point at = to_flat_point(norm.token, token);
  const IntegerTensor& x = witness.tensors[norm.x.tensor];
  std::vector<E> sums = feature_sums(x, norm.activation, comm);
  const std::vector<E> mu = dense_table(witness.tensors[norm.mu.tensor], norm.token, comm);
  std::vector<E> sigma = dense_table(witness.tensors[norm.sigma.tensor], norm.token, comm);
  const std::vector<E> inverse = dense_table(witness.tensors[norm.inverse.tensor], norm.token, comm);
  const std::vector<E> token_weights = eq_table(at);
  context.committed("sum", norm.x.tensor, feature_sum(norm.activation, token), evaluate(sums, at));
  transcript.send("square_sum", weighted_sum(&witness[norm.square_sum], norm.token, weight_at(token), comm));
  // V and I from mu, S1, sigma and I of each token
  const TokenRelation per_token{F::from_signed(static_cast<std::int64_t>(norm.features)),
                                transcript.challenge("lambda")};
  {
    const auto token_scope = transcript.scope("token");
    const ProvenSumcheck sumcheck =
        prove_dense_sumcheck(transcript, round_kernel(per_token), {mu, std::move(sums), std::move(sigma), inverse}, at);
    const TensorPoint end = to_tensor_point(norm.token, sumcheck.point);
    context.committed("mu", norm.mu.tensor, weight_at(end), sumcheck.factors[0]);
    context.committed("sum", norm.x.tensor, feature_sum(norm.activation, end), sumcheck.factors[1]);
    context.committed("sigma", norm.sigma.tensor, weight_at(end), sumcheck.factors[2]);
    context.committed("inverse", norm.inverse.tensor, weight_at(end), sumcheck.factors[3]);
  }
  // A(r) and S2(t) from x, mu, I and Gamma
  const NormRelation relation{transcript.challenge("lambda")};
  const Shape& shape = norm.activation;
  const std::vector<bool> by_token = all_but_features(shape);
  const std::vector<E> gamma =
      dense_table(witness.parameter(norm.gamma), context.plan.parameter_shape(norm.gamma), comm);
  const std::vector<ChunkedFactor> factors{WeightFactor(shape, {{weight_at(u_point), E::one()}}),
                                           TensorFactor{x},
                                           BroadcastFactor(shape, mu, by_token),
                                           BroadcastFactor(shape, inverse, by_token),
                                           BroadcastFactor(shape, gamma, all_but_tokens(shape)),
                                           BroadcastFactor(shape, token_weights, by_token)};
  const Ownership ownership = std::visit([](const auto* tensor) { return tensor->ownership(); }, x);
  const ProvenSumcheck sumcheck =
      prove_chunked_sumcheck(transcript, round_kernel(relation), shape, ownership, factors, {}, comm);
  const TensorPoint end = to_tensor_point(shape, sumcheck.point);
  const TensorPoint token_end = without_feature(end);
  const TensorPoint feature_end(end.begin(), end.end() - 1);
  context.committed("x", norm.x.tensor, weight_at(end), sumcheck.factors[1]);
  context.committed("mu", norm.mu.tensor, weight_at(token_end), sumcheck.factors[2]);
  context.committed("inverse", norm.inverse.tensor, weight_at(token_end), sumcheck.factors[3]);
  context.parameter("gamma", norm.gamma, weight_at(feature_end), sumcheck.factors[4]);
  transcript.send_hidden("product", sumcheck.factors[3] * sumcheck.factors[4]);
}

}  // namespace tessera
