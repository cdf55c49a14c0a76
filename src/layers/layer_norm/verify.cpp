#include "layers/layer_norm/layer_norm.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

std::vector<Factor> feature_sum(const Shape& activation, const TensorPoint& token) {
  std::vector<Factor> weight = weight_at(token);
  weight.insert(weight.end() - 1, Factor::ones(activation.dimensions()[activation.dimensions().size() - 2].bits()));
  return weight;
}

namespace {

/// Steps 2 to 4 for the statistics: mu, V and I at the look-up point t of the per-token columns. Returns S2(t).
template <class S>
S verify_statistics(VerifierContext<S>& context, const LayerNormPlan& norm, const TensorPoint& token) {
  VerifierView<S>& transcript = context.transcript;
  const LookupValuesOf<S>& lookup = context.lookup;
  const Point at = to_flat_point(norm.token, token);
  const S sum = context.committed("sum", norm.x.tensor, feature_sum(norm.activation, token));
  S square_sum = transcript.receive("square_sum");
  // every remainder against its complement; rho_mu(t) = S1(t) + floor(d/2)*Pres - d*mu(t)
  const E present = presence_at(norm.token, token);
  const auto d = static_cast<std::int64_t>(norm.features);
  const S mu = lookup.value(norm.mu.checked);
  const S mean_remainder = lookup.value(norm.mean_remainder);
  transcript.check_equal(mean_remainder, sum + present * F::from_signed(d / 2) - mu * F::from_signed(d),
                         "mean and its remainder do not match the sum");
  transcript.check_equal(lookup.value(norm.mean_complement), present * F::from_signed(d - 1) - mean_remainder,
                         "remainder of the mean is not below d");
  check_complements(context, norm, norm.token);
  // V and I from mu, S1, sigma and I of each token
  const TokenRelation per_token{F::from_signed(d), transcript.challenge("lambda", 1, "combination of two identities")};
  const S token_target = root_target<S>(context, norm, norm.token, square_sum + present * F::from_signed(norm.epsilon),
                                        norm.norm_numerator, per_token.lambda);
  const auto token_scope = transcript.scope("token");
  const auto sumcheck = verify_eq_sumcheck(transcript, token_target, at, per_token.degree());
  const TensorPoint end = to_tensor_point(norm.token, sumcheck.point);
  const S mu_end = context.committed("mu", norm.mu.tensor, weight_at(end));
  const S sum_end = context.committed("sum", norm.x.tensor, feature_sum(norm.activation, end));
  const S sigma_end = context.committed("sigma", norm.sigma.tensor, weight_at(end));
  const S inverse_end = context.committed("inverse", norm.inverse.tensor, weight_at(end));
  const std::array<S, 4> factors{mu_end, sum_end, sigma_end, inverse_end};
  transcript.check_equal(transcript.value(per_token, factors), sumcheck.value,
                         "statistics of a token do not match the sum-check");
  return square_sum;
}

}  // namespace

template <class S>
void run(VerifierContext<S>& context, const LayerNormPlan& norm,
         std::type_identity_t<std::vector<WeightedClaimOf<S>>> consumers) {
  VerifierView<S>& transcript = context.transcript;
  const auto scope = transcript.scope("layer_norm");
  // all claims on u become one on A at the same point
  const PointClaimOf<S> scaled =
      verify_requantized_claims<S>(context, norm.output_range(), norm.u_remainder, std::move(consumers));
  // B and the statistics of each token
  const S bias = verify_bias(context, "bias", norm.beta, norm.bias_shift, norm.activation, scaled.point);
  const TensorPoint token = context.lookup.point(norm.token);
  const S square_sum = verify_statistics(context, norm, token);
  // A(r) and S2(t) from x, mu, I and Gamma
  const NormRelation relation{transcript.challenge("lambda", 1, "combination of two identities")};
  const S target = scaled.value - bias + relation.lambda * square_sum;
  const auto sumcheck = verify_sumcheck(transcript, target, norm.activation.bits(), relation.degree());
  const TensorPoint end = to_tensor_point(norm.activation, sumcheck.point);
  const TensorPoint token_end = without_feature(end);
  const TensorPoint feature_end(end.begin(), end.end() - 1);
  const S x = context.committed("x", norm.x.tensor, weight_at(end));
  const S mu_end = context.committed("mu", norm.mu.tensor, weight_at(token_end));
  const S inverse_end = context.committed("inverse", norm.inverse.tensor, weight_at(token_end));
  const S gamma = context.parameter("gamma", norm.gamma, weight_at(feature_end));
  const E at_u = eq(to_flat_point(norm.activation, scaled.point), sumcheck.point);
  const E at_token = eq(to_flat_point(norm.token, token), to_flat_point(norm.token, token_end));
  const std::array<S, 6> factors{at_u, x, mu_end, inverse_end, gamma, at_token};
  transcript.check_equal(transcript.value(relation, factors), sumcheck.value,
                         "normalized values do not match the sum-check");
}

#define INSTANTIATE(S) template void run(VerifierContext<S>&, const LayerNormPlan&, std::vector<WeightedClaimOf<S>>);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
