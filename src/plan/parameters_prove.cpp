#include "plan/witness.hpp"

namespace tessera {
namespace {

/// The part of the oracle's tensor that `rank` owns; padding is zero.
ChunkedTensor<std::int16_t> chunked(const ParameterRow& row, const ModelShape& model,
                                    const ParameterValues<std::int16_t>& source, int rank, int ranks) {
  ChunkedTensor<std::int16_t> tensor(row.oracle_shape(model), row.ownership(), rank, ranks);
  const Shape& shape = tensor.shape();
  const std::size_t row_dimension = row.per_block ? 1 : 0;
  const Dimension rows = shape.dimensions()[row_dimension];
  const Dimension columns = row.columns == ParameterAxis::none ? Dimension{} : shape.dimensions().back();
  const auto place = [&](std::size_t chunk, std::size_t dimension) {
    return shape.coordinate(chunk, dimension) << shape.dimensions()[dimension].log_chunk;
  };
  const Range owned = row.sharded ? owned_rows(rows, rank, ranks) : Range{0, rows.length};
  static_cast<void>(source.block(0).rows(owned));  // throws here rather than in a thread
#pragma omp parallel for schedule(dynamic)
  for (std::size_t h = 0; h < tensor.held().size(); ++h) {
    const std::size_t chunk = tensor.held()[h];
    const RowBlock block = source.block(row.per_block ? place(chunk, 0) : 0);
    const std::size_t column = columns.length == 1 ? 0 : place(chunk, row_dimension + 1);
    const std::size_t count = std::min(columns.chunk(), columns.length - column);
    const std::size_t first = place(chunk, row_dimension);
    const std::size_t last = std::min(first + rows.chunk(), rows.length);
    std::int16_t* values = tensor.chunk(chunk).data();
    for (std::size_t i = first; i < last; ++i, values += columns.chunk()) {
      std::ranges::copy(block.row(i).subspan(column, count), values);
    }
  }
  return tensor;
}

}  // namespace

ParameterTensors ParameterTensors::of(const ModelShape& shape, const Parameters& p, int rank, int ranks) {
  ParameterTensors result;
  for (const ParameterRow& row : parameter_table()) {
    result.tensors.push_back(chunked(row, shape, p[row.id], rank, ranks));
  }
  return result;
}

ParameterTensors ParameterTensors::of(const ModelShape& shape, Parameters&& p, int rank, int ranks) {
  ParameterTensors result;
  for (const ParameterRow& row : parameter_table()) {
    result.tensors.push_back(chunked(row, shape, p[row.id], rank, ranks));
    p[row.id] = {};
  }
  return result;
}

std::vector<IntegerTensor> ParameterTensors::views() const {
  std::vector<IntegerTensor> views;
  for (const auto& tensor : tensors) {
    views.emplace_back(&tensor);
  }
  return views;
}

}  // namespace tessera
