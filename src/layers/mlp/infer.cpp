#include "layers/mlp/mlp.hpp"
#include "subprotocols/inference.hpp"

namespace tessera {
namespace {

/// g of all ranks (n_inner, batch.size).
std::vector<std::int16_t> activations(const InferenceContext& context, const MlpPlan& mlp,
                                      std::span<const std::int16_t> gelu_table, std::size_t block, const Batch& batch) {
  const Range inner = context.owned(mlp.inner.dimensions()[1]);
  std::vector<std::int16_t> rows(inner.size() * batch.size);
  project(context, {"MLP z", mlp.w1, mlp.b1, mlp.shift_1, mlp.bias_shift_1},
          ProductInput(batch.u, batch.u.size() / batch.size, batch.size),
          {inner, rows.data(), batch.size, inner, mlp.z, mlp.remainder}, block, batch.first);
#pragma omp parallel for schedule(static) if (rows.size() > parallel_work)
  for (std::size_t row = inner.first; row < inner.last; ++row) {
    std::int16_t* values = rows.data() + (row - inner.first) * batch.size;
    for (std::size_t t = 0; t < batch.size; ++t) {
      values[t] = gelu_table[static_cast<std::size_t>(values[t] + (1 << 15))];
    }
    if (context.recording()) {
      std::copy_n(values, batch.size, trace_row((*context.trace)[mlp.gelu], block, row) + batch.first);
    }
  }
  return context.gather(std::move(rows));
}

}  // namespace

void infer(const InferenceContext& context, const MlpPlan& mlp, std::span<const std::int16_t> gelu_table,
           std::size_t block, Batch& batch) {
  const std::vector<std::int16_t> g = activations(context, mlp, gelu_table, block, batch);
  add_residual(context, {"residual stream after MLP", mlp.w2, mlp.b2, mlp.shift_2, mlp.bias_shift_2},
               ProductInput(g, g.size() / batch.size, batch.size), mlp.feature, mlp.out_remainder, mlp.residual_bits,
               block, batch);
}

}  // namespace tessera
