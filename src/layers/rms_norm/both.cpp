#include "plan/sides.hpp"
#include "layers/rms_norm/rms_norm.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

template <class Side>
void run(Side& context, const RmsNormPlan& norm, std::vector<WeightedClaimFor<Side>> consumers) {
  const auto scope = context.transcript.scope("rms_norm");
  // all claims on u become one on A at the same point
  const auto scaled = requantized_claims(context, norm.output(), norm.u_remainder, std::move(consumers));
  // V and I of each token
  const auto square_sum = inverse_root(context, norm, norm.token, norm.square_sum, norm.epsilon, norm.norm_numerator);
  run_normalization(context, norm, norm, {}, scaled, square_sum);
}

#define INSTANTIATE(Side) template void run(Side&, const RmsNormPlan&, std::vector<WeightedClaimFor<Side>>);
TESSERA_FOR_SIDES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
