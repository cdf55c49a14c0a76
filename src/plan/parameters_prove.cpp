#include <omp.h>

#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>

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

/// A parameter's axes in its oracle's tensor.
struct Axes {
  std::size_t rows;     // the first dimension of the rows
  std::size_t columns;  // of the columns
  std::size_t end;
  std::size_t row_cells = 1;   // a row's cells in a chunk
  std::size_t row_chunks = 1;  // chunks that a row goes through

  Axes(const ParameterRow& row, const ModelShape& model, const Shape& shape)
      : rows(row.per_block ? 1 : 0),
        columns(rows + axis_dimensions(row.rows, model).size()),
        end(shape.dimensions().size()) {
    for (std::size_t d = columns; d < end; ++d) {
      row_cells <<= shape.dimensions()[d].log_chunk;
      row_chunks *= shape.dimensions()[d].chunk_count();
    }
  }
};

/// The share of the oracle's tensor that `rank` owns; padding is zero.
ChunkedTensor<std::int16_t> chunked(const ParameterRow& row, const ModelShape& model,
                                    const ParameterValues<std::int16_t>& source, int rank, const Division& division) {
  ChunkedTensor<std::int16_t> tensor(row.oracle_shape(model, division), row.ownership(), rank, division.ranks);
  const Shape& shape = tensor.shape();
  const Axes axes(row, model, shape);
  // throws here rather than in a thread
  static_cast<void>(source.block(0).rows(row.held_rows(model, rank, division)));
#pragma omp parallel for schedule(dynamic)
  for (std::size_t h = 0; h < tensor.held().size(); ++h) {
    const std::size_t chunk = tensor.held()[h];
    const RowBlock block = source.block(row.per_block ? shape.coordinate(chunk, 0) : 0);
    const std::vector<Run> along = runs_of(shape, chunk, axes.columns, axes.end);
    std::int16_t* values = tensor.chunk(chunk).data();
    for (const Run& some : runs_of(shape, chunk, axes.rows, axes.columns)) {
      for (std::size_t i = 0; i < some.count; ++i) {
        const auto from = block.row(some.entry + i);
        for (const Run& run : along) {
          std::ranges::copy(from.subspan(run.entry, run.count), values + (some.place + i) * axes.row_cells + run.place);
        }
      }
    }
  }
  return tensor;
}

/// Cuts rows of `columns` values, one after the other in `to`, into chunks there that each have all of these rows:
/// along[j] is what chunk j has of a row. `rows`: room for all of them. `side_by_side`: by all threads.
void cut_group(std::int16_t* to, std::span<std::int16_t> rows, std::size_t columns,
               const std::vector<std::vector<Run>>& along, std::size_t row_cells, bool side_by_side) {
  const std::size_t cells = rows.size() / along.size();  // of a chunk
  const std::size_t count = cells / row_cells;
#pragma omp parallel if (side_by_side)
  {
#pragma omp for schedule(static)
    for (std::size_t k = 0; k < count; ++k) {
      std::copy_n(to + k * columns, columns, rows.data() + k * columns);
    }
#pragma omp for schedule(static)
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t j = 0; j < along.size(); ++j) {
        for (const Run& run : along[j]) {
          std::copy_n(rows.data() + k * columns + run.entry, run.count, to + j * cells + k * row_cells + run.place);
        }
      }
    }
  }
}

/// Cuts a parameter into the oracle's chunks in the memory of `source`, which is used up: where only rows are padded,
/// and only the last ones, the rows that some neighbouring chunks divide lie where these chunks are going to lie.
/// Nothing, and `source` as it was, where that is not so: as where a divided dimension of rows has several chunks of
/// columns behind it, between which its parts do not stand together.
std::optional<ChunkedTensor<std::int16_t>> chunked_in_place(const ParameterRow& row, const ModelShape& model,
                                                            ParameterValues<std::int16_t>& source, int rank,
                                                            const Division& division) {
  const Shape shape = row.oracle_shape(model, division);
  const std::vector<std::size_t> held = owned_chunks(shape, row.ownership(), rank, division.ranks);
  const std::size_t size = held.size() << shape.inner_bits();
  const Axes axes(row, model, shape);
  const std::size_t group = axes.row_chunks << shape.inner_bits();  // values of chunks that have the same rows
  const std::size_t may_be_padded = !row.per_block && axes.columns == 1 ? 1 : 0;  // dimensions
  const bool padded = std::ranges::any_of(shape.dimensions() | std::views::drop(may_be_padded),
                                          [](const Dimension& d) { return d.length % d.chunk() != 0; });
  if (padded || (shape.is_divided() && axes.row_chunks > 1) || held.size() % axes.row_chunks != 0 ||
      source.values().size() > size || source.room() < size ||
      size - source.values().size() >= std::max<std::size_t>(group, 1)) {
    return std::nullopt;
  }
  const std::int16_t* const all = source.values().data();
  for (std::size_t i = 0; i < held.size() / axes.row_chunks; ++i) {
    const std::size_t chunk = held[i * axes.row_chunks];
    const std::vector<Run> runs = runs_of(shape, chunk, axes.rows, axes.columns);
    const bool together =
        std::ranges::all_of(runs, [&](const Run& run) { return run.entry == runs[0].entry + run.place; });
    const RowBlock block = source.block(row.per_block ? shape.coordinate(chunk, 0) : 0);
    if (!together || chunk % axes.row_chunks != 0 ||
        held[(i + 1) * axes.row_chunks - 1] != chunk + axes.row_chunks - 1 ||
        block.row(runs[0].entry).data() != all + i * group) {
      return std::nullopt;
    }
  }
  const std::size_t columns = source.extents().columns;
  ZeroedVector<std::int16_t> values = source.take_values(size);
  const auto result = [&] {
    return ChunkedTensor<std::int16_t>::of(shape, row.ownership(), rank, division.ranks, std::move(values));
  };
  if (axes.row_chunks == 1) {
    return result();
  }
  const std::size_t groups = held.size() / axes.row_chunks;
  const bool few = groups < 4 * static_cast<std::size_t>(omp_get_max_threads());  // an embedding has one
#pragma omp parallel if (!few)
  {
    RawVector<std::int16_t> rows(group);
    std::vector<std::vector<Run>> along(axes.row_chunks);
#pragma omp for schedule(dynamic)
    for (std::size_t i = 0; i < groups; ++i) {
      for (std::size_t j = 0; j < axes.row_chunks; ++j) {
        along[j] = runs_of(shape, held[i * axes.row_chunks + j], axes.columns, axes.end);
      }
      cut_group(values.data() + i * group, rows, columns, along, axes.row_cells, few);
    }
  }
  return result();
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
    std::optional<ChunkedTensor<std::int16_t>> tensor = chunked_in_place(row, shape, p[row.id], rank, division);
    result.tensors.push_back(tensor ? *std::move(tensor) : chunked(row, shape, p[row.id], rank, division));
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
