#include "plan/sides.hpp"
#include "layers/value_norm/value_norm.hpp"
#include "subprotocols/requantization.hpp"
#include "subprotocols/sum.hpp"

namespace tessera {

template <class Side, class T>
PointClaimFor<Side> run(Side& context, const ValueNormPlan<T>& norm, const PointClaimFor<Side>& product) {
  const auto scope = context.transcript.scope("norm");
  // V and I of each token
  const auto square_sum = inverse_root(context, norm, norm.token, norm.square_sum, norm.epsilon, norm.norm_numerator);
  // P(p) and S2(t) from h, I and Gamma
  const ValueNormRelation relation{context.transcript.challenge("lambda", 1, "combination of two identities")};
  const auto end =
      run_sum(context, relation,
              {norm.value,
               {SumFactor::weight({{product.point}}), SumFactor::sent("h", norm.h),
                SumFactor::committed("inverse", norm.inverse.tensor, norm.of_token()),
                SumFactor::parameter("gamma", norm.gamma, norm.of_gain()),
                SumFactor::weight({{context.lookup.point(norm.token)}}, norm.of_token())}},
              product.value + relation.lambda * square_sum, "normalized values do not match the sum-check");
  // all claims on h become one on A
  return requantized_claims(context, norm.h, norm.h_remainder, {{weight_at(end.point), end.values[1]}});
}

#define INSTANTIATE(Side)                                                                   \
  template PointClaimFor<Side> run(Side&, const HeadNormPlan&, const PointClaimFor<Side>&); \
  template PointClaimFor<Side> run(Side&, const BranchNormPlan&, const PointClaimFor<Side>&);
TESSERA_FOR_SIDES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
