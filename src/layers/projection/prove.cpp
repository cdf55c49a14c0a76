#include "layers/projection/projection.hpp"
#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/head_padding.hpp"
#include "subprotocols/matrix_product.hpp"
#include "plan/witness.hpp"
#include "plan/prover_context.hpp"

namespace tessera {

WeightedClaim run(ProverContext& context, const ProjectionPlan& projection) {
  const auto scope = context.transcript.scope("projection");
  const Shape& shape = projection.feature;
  prove_limits(context, projection.x_mid.checked.clamp, projection.x_mid.tensor);
  const TensorPoint at = prove_branch_end(context, projection.normed, context.lookup.point(shape));
  if (projection.bias) {
    context.parameter("bias", *projection.bias, weight_at({at[0], at[1]}));
  }
  const unsigned feature_bits = projection.feature_bits();
  std::vector<Axis> axes(projection.head_feature.dimensions().size());
  axes.back() = eq_table(at[2]);
  const std::vector<E> padded =
      contract(context.witness.view(projection.y), projection.head_feature, axes, context.comm);
  std::vector<E> y = padded;
  if (!projection.heads.whole()) {
    const unsigned padded_bits = projection.head_feature.dimensions()[1].bits();
    const std::size_t blocks = padded.size() >> padded_bits;
    y.assign(blocks << feature_bits, E::zero());
    for (std::size_t b = 0; b < blocks; ++b) {
      for (std::size_t x = 0; x < projection.heads.features(); ++x) {
        y[(b << feature_bits) + x] = padded[(b << padded_bits) + padded_place(projection.heads, x)];
      }
    }
  }
  const PointClaim claim = prove_matrix_product(
      context, {{projection.weight}, shape.dimensions()[0].bits(), feature_bits}, at, std::move(y));
  return {feature_weight(projection.heads, projection.head_feature, claim.point), claim.value};
}

}  // namespace tessera
