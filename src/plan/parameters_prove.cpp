#include <algorithm>

#include "plan/witness.hpp"

namespace tessera {
namespace {

/// Entries of an axis that stand together in a chunk of the oracle's tensor.
struct Run {
  std::size_t place = 0;  // in the chunk, along the axis
  std::size_t entry = 0;  // of the axis
  std::size_t count = 0;
};

/// What dimensions [first, last) of a chunk hold of the axis that they are, row-major.
std::vector<Run> runs_of(const Shape& shape, std::size_t chunk, std::size_t first, std::size_t last) {
  std::vector<Run> runs{{0, 0, 1}};
  for (std::size_t d = first; d < last; ++d) {
    const Dimension& dimension = shape.dimensions()[d];
    const std::size_t begin = shape.coordinate(chunk, d) << dimension.log_chunk;
    const std::size_t count = std::min(dimension.chunk(), dimension.length - std::min(begin, dimension.length));
    std::vector<Run> finer;
    for (const Run& run : runs) {
      const Run start{run.place << dimension.log_chunk, run.entry * dimension.length + begin, count};
      for (std::size_t i = 0; i < (d + 1 == last ? 1 : count); ++i) {
        finer.push_back({start.place + i, start.entry + i, d + 1 == last ? count : 1});
      }
    }
    runs = std::move(finer);
  }
  return runs;
}

/// The part of the oracle's tensor that `rank` owns; padding is zero.
ChunkedTensor<std::int16_t> chunked(const ParameterRow& row, const ModelShape& model,
                                    const ParameterValues<std::int16_t>& source, int rank, const Division& division) {
  ChunkedTensor<std::int16_t> tensor(row.oracle_shape(model, division), row.ownership(), rank, division.ranks);
  const Shape& shape = tensor.shape();
  const std::size_t rows = row.per_block ? 1 : 0;
  const std::size_t columns = rows + axis_dimensions(row.rows, model).size();
  const std::size_t end = shape.dimensions().size();
  std::size_t stride = 1;  // a row's cells in a chunk
  for (std::size_t d = columns; d < end; ++d) {
    stride <<= shape.dimensions()[d].log_chunk;
  }
  // throws here rather than in a thread
  static_cast<void>(source.block(0).rows(row.held_rows(model, rank, division)));
#pragma omp parallel for schedule(dynamic)
  for (std::size_t h = 0; h < tensor.held().size(); ++h) {
    const std::size_t chunk = tensor.held()[h];
    const RowBlock block = source.block(row.per_block ? shape.coordinate(chunk, 0) : 0);
    const std::vector<Run> along = runs_of(shape, chunk, columns, end);
    std::int16_t* values = tensor.chunk(chunk).data();
    for (const Run& some : runs_of(shape, chunk, rows, columns)) {
      for (std::size_t i = 0; i < some.count; ++i) {
        const auto from = block.row(some.entry + i);
        for (const Run& run : along) {
          std::ranges::copy(from.subspan(run.entry, run.count), values + (some.place + i) * stride + run.place);
        }
      }
    }
  }
  return tensor;
}

}  // namespace

ParameterTensors ParameterTensors::of(const ModelShape& shape, const Parameters& p, int rank,
                                      const Division& division) {
  ParameterTensors result;
  for (const ParameterRow& row : parameter_table(shape)) {
    result.tensors.push_back(chunked(row, shape, p[row.id], rank, division));
  }
  return result;
}

ParameterTensors ParameterTensors::of(const ModelShape& shape, Parameters&& p, int rank, const Division& division) {
  ParameterTensors result;
  for (const ParameterRow& row : parameter_table(shape)) {
    result.tensors.push_back(chunked(row, shape, p[row.id], rank, division));
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
