#include "subprotocols/inference.hpp"

namespace tessera {

Range InferenceContext::owned(const Dimension& dimension) const {
  return owned_rows(dimension, comm.rank(), comm.size());
}

void project(const InferenceContext& context, const Linear& linear, const ProductInput& input, const Destination& to,
             std::size_t block, std::size_t first) {
  const std::span<const std::int16_t> bias_of = context.vector(linear.bias, block);
  multiply(context.parameters[linear.weight].block(block), to.rows, input,
           [&](std::size_t row, std::span<const std::int64_t> products) {
             const std::int64_t bias = std::int64_t{bias_of[row]} << linear.bias_shift;
             const bool record = context.recording() && to.recorded.contains(row);
             std::uint16_t* remainders =
                 record ? trace_row((*context.trace)[to.remainders], block, row) + first : nullptr;
             std::int16_t* values = to.values + (row - to.rows.first) * to.stride;
             Extent extent;
             for (std::size_t t = 0; t < products.size(); ++t) {
               const Rounded y = rshift(products[t] + bias, linear.shift);
               extent.include(y.quotient);
               values[t] = static_cast<std::int16_t>(y.quotient);
               if (record) {
                 remainders[t] = static_cast<std::uint16_t>(y.remainder);
               }
             }
             extent.check(context.guard, linear.title, int16_bounds);
             if (record) {
               std::copy_n(values, products.size(), trace_row((*context.trace)[to.trace], block, row) + first);
             }
           });
}

void add_residual(const InferenceContext& context, const Linear& linear, const ProductInput& input, const Shape& stream,
                  Recorded<std::uint16_t> remainders, unsigned residual_bits, std::size_t block, Batch& batch) {
  const std::size_t n = batch.size;
  const Bounds bounds = Bounds::signed_bits(residual_bits);
  const Range features = context.owned(stream.dimensions()[1]);
  const std::span<const std::int16_t> bias_of = context.vector(linear.bias, block);
  std::vector<std::int32_t> rows(features.size() * n);
  multiply(context.parameters[linear.weight].block(block), features, input,
           [&](std::size_t row, std::span<const std::int64_t> products) {
             const std::int64_t bias = std::int64_t{bias_of[row]} << linear.bias_shift;
             std::uint16_t* kept =
                 context.recording() ? trace_row((*context.trace)[remainders], block, row) + batch.first : nullptr;
             Extent extent;
             for (std::size_t t = 0; t < n; ++t) {
               const Rounded update = rshift(products[t] + bias, linear.shift);
               const std::int64_t x = batch.x[row * n + t] + update.quotient;
               extent.include(x);
               rows[(row - features.first) * n + t] = static_cast<std::int32_t>(x);
               if (kept != nullptr) {
                 kept[t] = static_cast<std::uint16_t>(update.remainder);
               }
             }
             extent.check(context.guard, linear.title, bounds);
           });
  batch.x = context.gather(std::move(rows));
}

void record_residual(const InferenceContext& context, Recorded<std::int32_t> tensor, std::size_t block,
                     const Batch& batch) {
  if (!context.recording()) {
    return;
  }
  ChunkedTensor<std::int32_t>& values = (*context.trace)[tensor];
  const std::vector<Dimension>& dimensions = values.shape().dimensions();
  const Range features = context.owned(dimensions[dimensions.size() - 2]);
  for (std::size_t f = features.first; f < features.last; ++f) {
    std::copy_n(batch.x.data() + f * batch.size, batch.size, trace_row(values, block, f) + batch.first);
  }
}

}  // namespace tessera
