#include "subprotocols/claim_reduction.hpp"
#include "layers/layer_norm/layer_norm.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

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

void verify_layer_norm(VerifierContext& context, const LayerNormTensors& tensors,
                       std::vector<WeightedClaim> consumers) {
  VerifierTranscript& transcript = context.transcript;
  const LayerNormPlan& norm = *tensors.norm;
  const LookupValues& lookup = context.lookup;
  const auto scope = transcript.scope("layer_norm");
  // 1
  consumers.insert(consumers.begin(), {weight_at(lookup.point(norm.activation)), lookup.value(norm.u)});
  const ReductionInput claims{std::move(consumers)};
  const ReducedClaims u = verify_claim_reduction(transcript, norm.activation, std::span(&claims, 1));
  const E scaled = verify_requantization(context, norm.u_remainder, u.point, u.values[0]);
  // 2
  const TensorPoint bias_point(u.point.begin(), u.point.end() - 1);
  const E bias = context.parameter("bias", tensors.beta, weight_at(bias_point));
  const TensorPoint token = lookup.point(norm.token);
  const Point at = to_flat_point(norm.token, token);
  const E sum = context.committed("sum", tensors.x, feature_sum(norm.activation, token));
  const E square_sum = transcript.receive("square_sum");
  // complements; rho_mu(t) = S1(t) + floor(d/2)*Pres - d*mu(t)
  const E present = presence_at(norm.token, token);
  const auto d = static_cast<std::int64_t>(context.plan.model.n_embd);
  const E mu = lookup.value(norm.mu_range);
  const E sigma = lookup.value(norm.sigma_range);
  const E mean_remainder = lookup.value(norm.mean_remainder);
  const E root_remainder = lookup.value(norm.root_remainder);
  const E inverse_remainder = lookup.value(norm.inverse_remainder);
  transcript.check(mean_remainder == sum + present * F::from_signed(d / 2) - mu * F::from_signed(d),
                   "mean and its remainder do not match the sum");
  transcript.check(lookup.value(norm.mean_complement) == present * F::from_signed(d - 1) - mean_remainder,
                   "remainder of the mean is not below d");
  transcript.check(lookup.value(norm.root_complement) == sigma + sigma - root_remainder,
                   "square root is not the largest");
  transcript.check(lookup.value(norm.inverse_complement) == sigma - present - inverse_remainder,
                   "remainder of the inverse is not below sigma");
  // 3, 4
  const TokenRelation per_token{F::from_signed(d), transcript.challenge("lambda")};
  const E token_target =
      root_remainder - square_sum - present * F::from_signed(context.plan.constants.epsilon) +
      per_token.lambda * (present * F::from_signed(context.plan.constants.norm_numerator) - inverse_remainder);
  {
    const auto token_scope = transcript.scope("token");
    const SumcheckResult sumcheck = verify_eq_sumcheck(transcript, token_target, at, per_token.degree());
    const TensorPoint end = to_tensor_point(norm.token, sumcheck.point);
    const E mu_end = context.committed("mu", norm.mu, weight_at(end));
    const E sum_end = context.committed("sum", tensors.x, feature_sum(norm.activation, end));
    const E sigma_end = context.committed("sigma", norm.sigma, weight_at(end));
    const E inverse_end = context.committed("inverse", norm.inverse, weight_at(end));
    transcript.check(per_token(std::array{mu_end, sum_end, sigma_end, inverse_end}) == sumcheck.value,
                     "statistics of a token do not match the sum-check");
  }
  // 5, 6
  const NormRelation relation{transcript.challenge("lambda")};
  const E target = scaled - bias * two_to_the(static_cast<unsigned>(norm.bias_shift)) + relation.lambda * square_sum;
  const SumcheckResult sumcheck = verify_sumcheck(transcript, target, norm.activation.bits(), relation.degree());
  const TensorPoint end = to_tensor_point(norm.activation, sumcheck.point);
  const TensorPoint token_end = without_feature(end);
  const TensorPoint feature_end(end.begin(), end.end() - 1);
  const E x = context.committed("x", tensors.x, weight_at(end));
  const E mu_end = context.committed("mu", norm.mu, weight_at(token_end));
  const E inverse_end = context.committed("inverse", norm.inverse, weight_at(token_end));
  const E gamma = context.parameter("gamma", tensors.gamma, weight_at(feature_end));
  const E at_u = eq(to_flat_point(norm.activation, u.point), sumcheck.point);
  const E at_token = eq(at, to_flat_point(norm.token, token_end));
  transcript.check(relation(std::array{at_u, x, mu_end, inverse_end, gamma, at_token}) == sumcheck.value,
                   "normalized values do not match the sum-check");
}

}  // namespace tessera
