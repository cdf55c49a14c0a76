#include "layers/projection/projection.hpp"
#include "subprotocols/inference.hpp"

namespace tessera {

void infer(const InferenceContext& context, const ProjectionPlan& projection, std::span<const std::int16_t> y,
           std::size_t block, Batch& batch) {
  add_branch(
      context,
      {"residual stream after attention", projection.weight, projection.bias, projection.shift, projection.bias_shift},
      ProductInput(y, y.size() / batch.size, batch.size),
      {{projection.feature, projection.remainder, projection.residual_bits}, projection.normed}, block,
      {projection.x_mid.checked.clamp, block}, batch);
}

}  // namespace tessera
