#include "layers/gated_mlp/gated_mlp.hpp"
#include "subprotocols/inference.hpp"

namespace tessera {
namespace {

/// t of this rank's rows, from a; U and t are recorded.
std::vector<std::int32_t> products(const InferenceContext& context, const GatedMlpPlan& mlp,
                                   std::span<const std::int32_t> a, const ProductInput& input, std::size_t block,
                                   const Batch& batch) {
  const Range inner = context.owned(mlp.inner.dimensions()[1]);
  const Bounds bounds = Bounds::signed_bits(mlp.product_bits);
  std::vector<std::int32_t> rows(a.size());
  multiply(context.parameters[mlp.up].block(block), inner, input,
           [&](std::size_t row, std::span<const std::int64_t> sums) {
             const std::int32_t* gates = a.data() + (row - inner.first) * batch.size;
             std::int32_t* values = rows.data() + (row - inner.first) * batch.size;
             Extent extent;
             for (std::size_t t = 0; t < sums.size(); ++t) {
               const std::int64_t product = rshift(gates[t] * sums[t], mlp.shift_product).quotient;
               extent.include(product);
               values[t] = static_cast<std::int32_t>(product);
             }
             settle(context, {mlp.product.clamp, "MLP product", bounds, PlaceOfRow(mlp.inner, block, row, batch.first)},
                    extent, std::span(values, sums.size()),
                    [&](std::size_t t) { return rshift(gates[t] * sums[t], mlp.shift_product).quotient; });
             if (context.recording()) {
               block_row((*context.trace)[mlp.up_sum], block, row).write(batch.first, sums);
               block_row((*context.trace)[mlp.product], block, row)
                   .write(batch.first, std::span<const std::int32_t>(values, sums.size()));
             }
           });
  return rows;
}

}  // namespace

void infer(const InferenceContext& context, const GatedMlpPlan& mlp, std::span<const std::int32_t> table,
           std::size_t block, Batch& batch) {
  const std::size_t n = batch.size;
  const ProductInput input = batch.input();
  const Activation<std::int32_t> gate{mlp.inner,    mlp.z, mlp.gate_remainder, mlp.activation, mlp.activation.clamp,
                                      mlp.gate_bits};
  const std::vector<std::int32_t> a =
      activate(context, {"MLP gate", mlp.gate, {}, mlp.shift_gate, 0}, input, gate, table, block, batch);
  const std::vector<std::int32_t> t =
      context.gather(mlp.inner.dimensions()[1], n, products(context, mlp, a, input, block, batch));
  add_branch(context, {"residual stream after MLP", mlp.down, {}, mlp.shift_down, 0}, ProductInput(t, t.size() / n, n),
             {{mlp.feature, mlp.out_remainder, mlp.residual_bits}, mlp.normed}, block, next_stream(mlp, block), batch);
}

}  // namespace tessera
