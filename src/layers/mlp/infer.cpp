#include "layers/mlp/mlp.hpp"
#include "subprotocols/inference.hpp"

namespace tessera {

void infer(const InferenceContext& context, const MlpPlan& mlp, std::span<const std::int32_t> gelu_table,
           std::size_t block, Batch& batch) {
  const std::vector<std::int16_t> g = context.gather(
      mlp.inner.dimensions()[1], batch.size,
      activate<std::int16_t>(context, {"MLP z", mlp.w1, mlp.b1, mlp.shift_1, mlp.bias_shift_1}, batch.input(),
                             {mlp.inner, mlp.z, mlp.remainder, mlp.gelu, mlp.gelu.clamp}, gelu_table, block, batch));
  add_residual(context, {"residual stream after MLP", mlp.w2, mlp.b2, mlp.shift_2, mlp.bias_shift_2},
               ProductInput(g, g.size() / batch.size, batch.size), {mlp.feature, mlp.out_remainder, mlp.residual_bits},
               block, next_stream(mlp, block), batch);
}

}  // namespace tessera
