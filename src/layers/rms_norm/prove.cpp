#include "layers/rms_norm/rms_norm.hpp"
#include "subprotocols/requantization.hpp"
#include "plan/witness.hpp"
#include "plan/prover_context.hpp"

namespace tessera {

void run(ProverContext& context, const RmsNormPlan& norm, std::vector<WeightedClaim> consumers) {
  ProverTranscript& transcript = context.transcript;
  Communicator& comm = context.comm;
  const Witness& witness = context.witness;
  const auto scope = transcript.scope("rms_norm");
  // all claims on u become one on A at the same point
  const TensorPoint u_point =
      prove_requantized_claims(context, norm.output_range(), norm.output(), norm.u_remainder, std::move(consumers));
  // V and I of each token
  const TensorPoint token = context.lookup.point(norm.token);
  const std::vector<E> inverse = prove_inverse_root(context, norm, norm.token, norm.square_sum);
  // A(r) and S2(t) from x, I and Gamma
  const RmsNormRelation relation{transcript.challenge("lambda")};
  const Shape& shape = norm.activation;
  const std::vector<bool> by_token = all_but_features(shape);
  const IntegerTensor& x = witness.tensors[norm.x.tensor];
  const std::vector<E> gamma =
      dense_table(witness.parameter(norm.gamma), context.plan.parameter_shape(norm.gamma), comm);
  const std::vector<ChunkedFactor> factors{
      WeightFactor(shape, {{weight_at(u_point), E::one()}}), TensorFactor{x}, BroadcastFactor(shape, inverse, by_token),
      BroadcastFactor(shape, gamma, all_but_tokens(shape)),
      BroadcastFactor(shape, eq_table(to_flat_point(norm.token, token)), by_token)};
  const Ownership ownership = std::visit([](const auto* tensor) { return tensor->ownership(); }, x);
  const ProvenSumcheck sumcheck =
      prove_chunked_sumcheck(transcript, round_kernel(relation), shape, ownership, factors, {}, comm);
  const TensorPoint end = to_tensor_point(shape, sumcheck.point);
  const TensorPoint feature_end(end.begin(), end.end() - 1);
  context.committed("x", norm.x.tensor, weight_at(end), sumcheck.factors[1]);
  context.committed("inverse", norm.inverse.tensor, weight_at(without_feature(end)), sumcheck.factors[2]);
  context.parameter("gamma", norm.gamma, weight_at(feature_end), sumcheck.factors[3]);
  transcript.send_hidden("product", relation.second_factor(std::span<const E>(sumcheck.factors)));
}

}  // namespace tessera
