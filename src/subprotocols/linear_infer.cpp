#include "subprotocols/inference.hpp"

#include <numeric>

#include "cluster/least_shared.hpp"

namespace tessera {
namespace {

/// The biases of a block's rows, shifted as the products are; 0 where there are none.
class Bias {
 public:
  Bias(const InferenceContext& context, const Linear& linear, std::size_t block)
      : values_(linear.bias ? context.vector(*linear.bias, block) : std::span<const std::int16_t>()),
        shift_(linear.bias_shift) {}
  [[nodiscard]] std::int64_t operator[](std::size_t row) const {
    return values_.empty() ? 0 : std::int64_t{values_[row]} << shift_;
  }

 private:
  std::span<const std::int16_t> values_;
  int shift_;
};

}  // namespace

Range InferenceContext::owned(const Dimension& dimension) const {
  return owned_rows(dimension, comm.rank(), comm.size());
}

Range InferenceContext::owned(const Shape& shape) const { return owned_rows(shape, comm.rank(), comm.size()); }

SharedBytes InferenceContext::gather_bytes(std::span<const std::byte> mine,
                                           std::span<const std::size_t> lengths) const {
  if (gathered == nullptr || std::accumulate(lengths.begin(), lengths.end(), std::size_t{0}) < least_shared_bytes) {
    return SharedBytes::of(comm.all_gather_known(mine, lengths), mine.size());
  }
  SharedBytes all = comm.gather_shared(mine);
  *gathered = all.shared() ? all : SharedBytes();
  return all;
}

namespace {

/// Some columns of (rows, columns) values as the right factor of products.
template <class T>
ProductInput columns_of(std::span<const T> values, std::size_t columns, Range some) {
  const std::size_t rows = values.size() / columns;
  if (some.size() == columns) {
    return {values, rows, columns};
  }
  std::vector<T> taken;
  taken.reserve(rows * some.size());
  for (std::size_t row = 0; row < rows; ++row) {
    const auto part = values.subspan(row * columns + some.first, some.size());
    taken.insert(taken.end(), part.begin(), part.end());
  }
  return {taken, rows, some.size()};
}

}  // namespace

ProductInput Batch::input(Range some) const {
  return wide_u.empty() ? columns_of(std::span(u), size, some) : columns_of(std::span(wide_u), size, some);
}

template <class T>
void project(const InferenceContext& context, const Linear& linear, const ProductInput& input, const Destination<T>& to,
             std::size_t block, std::size_t first) {
  const Bias bias_of(context, linear, block);
  const Bounds bounds = Bounds::signed_bits(to.bits);
  multiply(
      context.parameters[linear.weight].block(block), to.rows, input,
      [&](std::size_t row, std::span<const std::int64_t> products) {
        const std::int64_t bias = bias_of[row];
        const bool record = context.recording() && to.recorded.contains(row);
        const std::span<std::uint16_t> kept = row_buffer<std::uint16_t>(products.size());
        T* values = to.values + (row - to.rows.first) * to.stride;
        Extent extent;
        for (std::size_t t = 0; t < products.size(); ++t) {
          const Rounded y = rshift(products[t] + bias, linear.shift);
          extent.include(y.quotient);
          values[t] = static_cast<T>(y.quotient);
          kept[t] = static_cast<std::uint16_t>(y.remainder);
        }
        settle(context,
               {to.clamp, linear.title, bounds, PlaceOfRow(to.shape, block, row, first), to.recorded.contains(row)},
               extent, std::span(values, products.size()),
               [&](std::size_t t) { return rshift(products[t] + bias, linear.shift).quotient; });
        if (record) {
          block_row((*context.trace)[to.trace], block, row).write(first, std::span<const T>(values, products.size()));
          block_row((*context.trace)[to.remainders], block, row).write(first, kept);
        }
      });
}

template void project(const InferenceContext&, const Linear&, const ProductInput&, const Destination<std::int16_t>&,
                      std::size_t, std::size_t);
template void project(const InferenceContext&, const Linear&, const ProductInput&, const Destination<std::int32_t>&,
                      std::size_t, std::size_t);

template <class T>
std::vector<T> activate(const InferenceContext& context, const Linear& linear, const ProductInput& input,
                        const Activation<T>& activation, std::span<const std::int32_t> table, std::size_t block,
                        const Batch& batch) {
  const Range inner = context.owned(activation.inner.dimensions()[1]);
  std::vector<T> rows(inner.size() * batch.size);
  const Destination<T> to{inner,          rows.data(),           batch.size,       inner,
                          activation.z,   activation.remainders, activation.inner, activation.clamp,
                          activation.bits};
  project(context, linear, input, to, block, batch.first);
  const std::size_t zero = table.size() / 2;
#pragma omp parallel for schedule(static) if (worth_threads(inner.size(), batch.size))
  for (std::size_t row = inner.first; row < inner.last; ++row) {
    T* values = rows.data() + (row - inner.first) * batch.size;
    for (std::size_t t = 0; t < batch.size; ++t) {
      // a value out of range, which the guard knows of, finds some row
      const std::size_t place = (zero + static_cast<std::size_t>(std::int64_t{values[t]})) & (table.size() - 1);
      values[t] = static_cast<T>(table[place]);
    }
    if (context.recording()) {
      block_row((*context.trace)[activation.values], block, row)
          .write(batch.first, std::span<const T>(values, batch.size));
    }
  }
  return rows;
}

template std::vector<std::int16_t> activate(const InferenceContext&, const Linear&, const ProductInput&,
                                            const Activation<std::int16_t>&, std::span<const std::int32_t>, std::size_t,
                                            const Batch&);
template std::vector<std::int32_t> activate(const InferenceContext&, const Linear&, const ProductInput&,
                                            const Activation<std::int32_t>&, std::span<const std::int32_t>, std::size_t,
                                            const Batch&);

void add_residual(const InferenceContext& context, const Linear& linear, const ProductInput& input,
                  const ResidualStream& stream, std::size_t block, const ClampedBlock& clamped, Batch& batch) {
  const std::size_t n = batch.size;
  const Bounds bounds = Bounds::signed_bits(stream.bits);
  const Range features = context.owned(stream.shape.dimensions()[1]);
  const Bias bias_of(context, linear, block);
  std::vector<std::int32_t> rows(features.size() * n);
  multiply(
      context.parameters[linear.weight].block(block), features, input,
      [&](std::size_t row, std::span<const std::int64_t> products) {
        const std::int64_t bias = bias_of[row];
        const std::span<std::uint16_t> kept = row_buffer<std::uint16_t>(n);
        Extent extent;
        for (std::size_t t = 0; t < n; ++t) {
          const Rounded update = rshift(products[t] + bias, linear.shift);
          const std::int64_t x = batch.x[row * n + t] + update.quotient;
          extent.include(x);
          rows[(row - features.first) * n + t] = static_cast<std::int32_t>(x);
          kept[t] = static_cast<std::uint16_t>(update.remainder);
        }
        if (context.recording()) {
          block_row((*context.trace)[stream.remainders], block, row).write(batch.first, kept);
        }
        settle(context, {clamped.list, linear.title, bounds, PlaceOfRow(stream.shape, clamped.block, row, batch.first)},
               extent, std::span(rows).subspan((row - features.first) * n, n),
               [&](std::size_t t) { return batch.x[row * n + t] + rshift(products[t] + bias, linear.shift).quotient; });
      });
  batch.x = context.gather(stream.shape.dimensions()[1], n, std::move(rows));
}

void record_residual(const InferenceContext& context, Recorded<std::int32_t> tensor, std::size_t block,
                     const Batch& batch) {
  if (!context.recording()) {
    return;
  }
  ChunkedTensor<std::int32_t>& values = (*context.trace)[tensor];
  const std::vector<Dimension>& dimensions = values.shape().dimensions();
  const Range features = context.owned(dimensions[dimensions.size() - 2]);
#pragma omp parallel for schedule(static) if (worth_threads(features.size(), batch.size))
  for (std::size_t f = features.first; f < features.last; ++f) {
    block_row(values, block, f)
        .write(batch.first, std::span<const std::int32_t>(batch.x).subspan(f * batch.size, batch.size));
  }
}

}  // namespace tessera
