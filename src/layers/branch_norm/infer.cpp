#include "layers/branch_norm/branch_norm.hpp"
#include "subprotocols/inference.hpp"

namespace tessera {

void add_branch(const InferenceContext& context, const Linear& linear, const ProductInput& input,
                const BranchTarget& target, std::size_t block, const ClampedBlock& clamped, Batch& batch) {
  const ResidualStream& stream = target.stream;
  const std::optional<BranchNorm>& norm = target.norm;
  if (!norm) {
    add_residual(context, linear, input, stream, block, clamped, batch);
    return;
  }
  const std::size_t n = batch.size;
  const Range features = context.owned(stream.shape.dimensions()[1]);
  std::vector<std::int64_t> sums(features.size() * n);
  multiply(context.parameters[linear.weight].block(block), features, input,
           [&](std::size_t row, std::span<const std::int64_t> products) {
             std::ranges::copy(products, sums.begin() + static_cast<std::ptrdiff_t>((row - features.first) * n));
           });
  infer(context, norm->norm, block, features, batch.first, n, sums);
  const Bounds bounds = Bounds::signed_bits(stream.bits);
  std::vector<std::int32_t> rows(sums.size());
#pragma omp parallel for schedule(static) if (sums.size() > parallel_work)
  for (std::size_t row = features.first; row < features.last; ++row) {
    const std::int64_t* const values = sums.data() + (row - features.first) * n;
    const auto wide = [&](std::size_t t) { return batch.x[row * n + t] + rshift(values[t], norm->out_shift).quotient; };
    const std::span<std::int64_t> kept = row_buffer<std::int64_t>(n);
    const std::span<std::int32_t> to = std::span(rows).subspan((row - features.first) * n, n);
    Extent extent;
    for (std::size_t t = 0; t < n; ++t) {
      const std::int64_t x = wide(t);
      extent.include(x);
      to[t] = static_cast<std::int32_t>(x);
      kept[t] = rshift(values[t], norm->out_shift).remainder;
    }
    if (context.recording()) {
      block_row((*context.trace)[norm->remainder], block, row).write(batch.first, kept);
    }
    settle(context, {clamped.list, linear.title, bounds, PlaceOfRow(stream.shape, clamped.block, row, batch.first)},
           extent, to, wide);
  }
  batch.x = context.gather(stream.shape.dimensions()[1], n, std::move(rows));
}

}  // namespace tessera
