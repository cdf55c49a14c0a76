#include "layers/head_norm/head_norm.hpp"
#include "layers/rms_norm/rms_norm.hpp"
#include "plan/prover_context.hpp"
#include "plan/witness.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

PointClaim run(ProverContext& context, const HeadNormPlan& norm, const PointClaim& product) {
  ProverTranscript& transcript = context.transcript;
  Communicator& comm = context.comm;
  const Witness& witness = context.witness;
  const auto scope = transcript.scope("norm");
  // V and I of each head and token
  const TensorPoint token = context.lookup.point(norm.token);
  const std::vector<E> inverse = prove_inverse_root(context, norm, norm.token, norm.square_sum);
  // P(p) and S2(t) from h, I and Gamma
  const RmsNormRelation relation{transcript.challenge("lambda")};
  const Shape& shape = norm.head;
  const std::size_t n = shape.dimensions().size();
  std::vector<bool> by_token(n, true);
  by_token[n - 3] = by_token[n - 2] = false;
  std::vector<bool> by_place(n, false);
  by_place[0] = by_place[n - 3] = by_place[n - 2] = true;
  const IntegerTensor h = witness.view(norm.h);
  const std::vector<E> gamma =
      dense_table(witness.parameter(norm.gamma), context.plan.parameter_shape(norm.gamma), comm);
  const std::vector<ChunkedFactor> factors{
      WeightFactor(shape, {{weight_at(product.point), E::one()}}), TensorFactor{h},
      BroadcastFactor(shape, inverse, by_token), BroadcastFactor(shape, gamma, by_place),
      BroadcastFactor(shape, eq_table(to_flat_point(norm.token, token)), by_token)};
  const ProvenSumcheck sumcheck =
      prove_chunked_sumcheck(transcript, round_kernel(relation), shape, witness[norm.h].ownership(), factors, {}, comm);
  const TensorPoint end = to_tensor_point(shape, sumcheck.point);
  transcript.send("h", sumcheck.factors[1]);
  context.committed("inverse", norm.inverse.tensor, weight_at(without_places(end)), sumcheck.factors[2]);
  context.parameter("gamma", norm.gamma, weight_at({end.front(), end.end()[-3], end.end()[-2]}), sumcheck.factors[3]);
  transcript.send_hidden("product", relation.second_factor(std::span<const E>(sumcheck.factors)));
  // all claims on h become one on A
  return {prove_requantized_claims(context, norm.h, norm.h_remainder, {{weight_at(end), sumcheck.factors[1]}}),
          E::zero()};
}

}  // namespace tessera
