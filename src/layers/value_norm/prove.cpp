#include <algorithm>

#include "layers/rms_norm/rms_norm.hpp"
#include "layers/value_norm/value_norm.hpp"
#include "plan/prover_context.hpp"
#include "plan/witness.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {
namespace {

std::vector<E> gain_table(const ProverContext& context, const ValueNormSpec& norm) {
  const auto table = [&](ParameterId id) {
    return dense_table(context.witness.parameter(id), context.plan.parameter_shape(id), context.comm);
  };
  std::vector<E> gains = table(norm.gamma);
  if (const auto low = norm.gamma_low()) {
    std::ranges::transform(gains, table(*low), gains.begin(),
                           [](const E& high, const E& piece) { return high * two_to_the(gain_piece_bits) + piece; });
  }
  return gains;
}

}  // namespace

template <class T>
PointClaim run(ProverContext& context, const ValueNormPlan<T>& norm, const PointClaim& product) {
  ProverTranscript& transcript = context.transcript;
  Communicator& comm = context.comm;
  const Witness& witness = context.witness;
  const auto scope = transcript.scope("norm");
  // V and I of each token
  const TensorPoint token = context.lookup.point(norm.token);
  const std::vector<E> inverse = prove_inverse_root(context, norm, norm.token, norm.square_sum);
  // P(p) and S2(t) from h, I and Gamma
  const RmsNormRelation relation{transcript.challenge("lambda")};
  const Shape& shape = norm.value;
  std::vector<bool> by_token(shape.dimensions().size());
  for (std::size_t j = 0; j < by_token.size(); ++j) {
    by_token[j] = norm.keeps(j);
  }
  std::vector<bool> by_place = by_token;
  by_place.flip();
  by_place.front() = true;
  const IntegerTensor h = witness.view(norm.h);
  const std::vector<E> gamma = gain_table(context, norm);
  const std::vector<ChunkedFactor> factors{
      WeightFactor(shape, {{weight_at(product.point), E::one()}}), TensorFactor{h},
      BroadcastFactor(shape, inverse, by_token), BroadcastFactor(shape, gamma, by_place),
      BroadcastFactor(shape, eq_table(to_flat_point(norm.token, token)), by_token)};
  const ProvenSumcheck sumcheck =
      prove_chunked_sumcheck(transcript, round_kernel(relation), shape, witness[norm.h].ownership(), factors, {}, comm);
  const TensorPoint end = to_tensor_point(shape, sumcheck.point);
  transcript.send("h", sumcheck.factors[1]);
  context.committed("inverse", norm.inverse.tensor, weight_at(norm.token_of(end)), sumcheck.factors[2]);
  if (const auto low = norm.gamma_low()) {
    context.parameter("gamma", norm.gamma, weight_at(norm.gain_of(end)));
    context.parameter("gamma_low", *low, weight_at(norm.gain_of(end)));
  } else {
    context.parameter("gamma", norm.gamma, weight_at(norm.gain_of(end)), sumcheck.factors[3]);
  }
  transcript.send_hidden("product", relation.second_factor(std::span<const E>(sumcheck.factors)));
  // all claims on h become one on A
  return {prove_requantized_claims(context, norm.h, norm.h_remainder, {{weight_at(end), sumcheck.factors[1]}}),
          E::zero()};
}

template PointClaim run(ProverContext&, const HeadNormPlan&, const PointClaim&);
template PointClaim run(ProverContext&, const BranchNormPlan&, const PointClaim&);

}  // namespace tessera
