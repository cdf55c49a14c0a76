#include "plan/sides.hpp"
#include "layers/layer_norm/layer_norm.hpp"
#include "subprotocols/requantization.hpp"
#include "subprotocols/sum.hpp"

namespace tessera {
namespace {

/// Steps 2 to 4 for the statistics: mu, V and I at the look-up point t of the per-token columns. Returns S2(t).
template <class Side>
ScalarFor<Side> statistics(Side& context, const LayerNormPlan& norm, const TensorPoint& token) {
  auto& transcript = context.transcript;
  const auto& lookup = context.lookup;
  const auto sum = context.committed("sum", norm.x.tensor, feature_sum(norm.activation, token));
  auto square_sum = context.derived("square_sum", norm.square_sum, norm.token, weight_at(token));
  // every remainder against its complement; rho_mu(t) = S1(t) + floor(d/2)*Pres - d*mu(t)
  const E present = presence_at(norm.token, token);
  const auto d = static_cast<std::int64_t>(norm.features);
  const auto mean_remainder = lookup.value(norm.mean_remainder);
  transcript.check_equal(mean_remainder,
                         sum + present * F::from_signed(d / 2) - lookup.value(norm.mu.checked) * F::from_signed(d),
                         "mean and its remainder do not match the sum");
  transcript.check_equal(lookup.value(norm.mean_complement), present * F::from_signed(d - 1) - mean_remainder,
                         "remainder of the mean is not below d");
  check_complements(context, norm, norm.token);
  // V and I from mu, S1, sigma and I of each token
  const TokenRelation relation{F::from_signed(d), transcript.challenge("lambda", 1, "combination of two identities")};
  const ScalarFor<Side> known = square_sum + present * F::from_signed(norm.epsilon);
  const auto target = root_target(context, norm, norm.token, known, norm.norm_numerator, relation.lambda);
  const auto scope = transcript.scope("token");
  run_sum(context, relation,
          {norm.token,
           {SumFactor::committed("mu", norm.mu.tensor), SumFactor::summed("sum", norm.x.tensor),
            SumFactor::committed("sigma", norm.sigma.tensor), SumFactor::committed("inverse", norm.inverse.tensor)},
           token},
          target, "statistics of a token do not match the sum-check");
  return square_sum;
}

}  // namespace

template <class Side>
void run(Side& context, const LayerNormPlan& norm, std::vector<WeightedClaimFor<Side>> consumers) {
  const auto scope = context.transcript.scope("layer_norm");
  // all claims on u become one on A at the same point, without B
  auto scaled = requantized_claims(context, norm.output(), norm.u_remainder, std::move(consumers));
  subtract_bias(context, "bias", norm.beta, norm.bias_shift, norm.activation, scaled);
  // the statistics of each token
  const TensorPoint token = context.lookup.point(norm.token);
  const auto square_sum = statistics(context, norm, token);
  run_normalization(context, norm, norm, norm.mu.tensor, scaled, square_sum);
}

#define INSTANTIATE(Side) template void run(Side&, const LayerNormPlan&, std::vector<WeightedClaimFor<Side>>);
TESSERA_FOR_SIDES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
