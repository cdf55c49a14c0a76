#include "plan/sides.hpp"
#include "layers/projection/projection.hpp"
#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/matrix_product.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

template <class Side>
WeightedClaimFor<Side> run(Side& context, const ProjectionPlan& projection) {
  const auto scope = context.transcript.scope("projection");
  const Shape& shape = projection.feature;
  const TensorPoint at = context.lookup.point(shape);
  const ClampId clamp = projection.x_mid.checked.clamp;
  check_limits(context, clamp, projection.x_mid.tensor);
  const auto update = context.lookup.value(projection.x_mid.checked) - context.lookup.value(projection.x_in.checked) +
                      context.exceptions.excess_at(clamp, at);
  auto out = branch_end(context, projection.remainder, projection.normed, at, update);
  subtract_bias(context, "bias", projection.bias, projection.bias_shift, shape, out);
  const auto y =
      matrix_product(context, projection.weight, out, {projection.y, projection.head_feature, &projection.heads});
  return {feature_weight(projection.heads, projection.head_feature, y.point), y.value};
}

#define INSTANTIATE(Side) template WeightedClaimFor<Side> run(Side&, const ProjectionPlan&);
TESSERA_FOR_SIDES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
