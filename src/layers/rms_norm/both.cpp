#include "plan/sides.hpp"
#include "layers/rms_norm/rms_norm.hpp"
#include "subprotocols/requantization.hpp"
#include "subprotocols/sum.hpp"

namespace tessera {

template <class Side>
void run(Side& context, const RmsNormPlan& norm, std::vector<WeightedClaimFor<Side>> consumers) {
  const auto scope = context.transcript.scope("rms_norm");
  // all claims on u become one on A at the same point
  const auto scaled = requantized_claims(context, norm.output(), norm.u_remainder, std::move(consumers));
  // V and I of each token
  const auto square_sum = inverse_root(context, norm, norm.token, norm.square_sum, norm.epsilon, norm.norm_numerator);
  // A(r) and S2(t) from x, I and Gamma
  const RmsNormRelation relation{context.transcript.challenge("lambda", 1, "combination of two identities")};
  const Shape& shape = norm.activation;
  run_sum(context, relation,
          {shape,
           {SumFactor::weight({{scaled.point}}), SumFactor::committed("x", norm.x.tensor),
            SumFactor::committed("inverse", norm.inverse.tensor, all_but_features(shape)),
            SumFactor::parameter("gamma", norm.gamma, all_but_tokens(shape)),
            SumFactor::weight({{context.lookup.point(norm.token)}}, all_but_features(shape))}},
          scaled.value + relation.lambda * square_sum, "normalized values do not match the sum-check");
}

#define INSTANTIATE(Side) template void run(Side&, const RmsNormPlan&, std::vector<WeightedClaimFor<Side>>);
TESSERA_FOR_SIDES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
