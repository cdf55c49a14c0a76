#include "layers/projection/projection.hpp"
#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/head_padding.hpp"
#include "subprotocols/matrix_product.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

template <class S>
WeightedClaimOf<S> run(VerifierContext<S>& context, const ProjectionPlan& projection) {
  const auto scope = context.transcript.scope("projection");
  const Shape& shape = projection.feature;
  const TensorPoint at = context.lookup.point(shape);
  const ClampId clamp = projection.x_mid.checked.clamp;
  verify_limits(context, clamp, projection.x_mid.tensor);
  const S update = context.lookup.value(projection.x_mid.checked) - context.lookup.value(projection.x_in.checked) +
                   context.exceptions.excess_at(clamp, at);
  PointClaimOf<S> out = verify_branch_end<S>(context, projection.remainder, projection.normed, at, update);
  if (projection.bias) {
    out.value -= verify_bias(context, "bias", *projection.bias, projection.bias_shift, shape, out.point);
  }
  const auto y =
      verify_matrix_product(context, {{projection.weight}, shape.dimensions()[0].bits(), projection.feature_bits()},
                            out.point, std::span(&out.value, 1));
  return {feature_weight(projection.heads, projection.head_feature, y.point), y.value};
}

#define INSTANTIATE(S) template WeightedClaimOf<S> run(VerifierContext<S>&, const ProjectionPlan&);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
