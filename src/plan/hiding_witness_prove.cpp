#include "plan/hiding_witness.hpp"

#include <algorithm>

namespace tessera {
namespace {

/// Elements of E as pairs of cells.
ChunkedTensor<std::int64_t> cells_of(const Shape& shape, std::span<const E> elements, const Communicator& comm) {
  ChunkedTensor<std::int64_t> cells(shape, {}, comm.rank(), comm.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    cells.values()[2 * i] = signed_value(elements[i].c0);
    cells.values()[2 * i + 1] = signed_value(elements[i].c1);
  }
  return cells;
}

/// Coordinates of elements of E in columns of their own, the same in all rows.
ChunkedTensor<std::int64_t> constant_columns(const Shape& shape, std::span<const E> elements, unsigned log_rows,
                                             const Communicator& comm) {
  ChunkedTensor<std::int64_t> columns(shape, {}, comm.rank(), comm.size());
  for (std::size_t i = 0; i < elements.size() << (log_rows + 1); ++i) {
    const std::size_t column = i >> log_rows;
    const E& element = elements[column / 2];
    columns.values()[i] = signed_value(column % 2 == 0 ? element.c0 : element.c1);
  }
  return columns;
}

std::vector<E> elements(const Digest& seed, std::string_view purpose, std::size_t count) {
  std::vector<E> result(count);
  KeyedStream(seed, purpose).elements(0, std::span<E>(result));
  return result;
}

}  // namespace

std::int64_t signed_value(F element) {
  const std::uint64_t value = element.value();
  return static_cast<std::int64_t>(value > F::modulus / 2 ? value - F::modulus : value);
}

ChunkedTensor<std::int64_t> random_columns(const Shape& shape, const KeyedStream& stream, const Communicator& comm) {
  ChunkedTensor<std::int64_t> columns(shape, {0}, comm.rank(), comm.size());
  const std::vector<std::size_t>& held = columns.held();
  constexpr std::size_t run_cells = std::size_t{1} << 13;
  const std::size_t run = std::max(std::size_t{1}, run_cells >> shape.inner_bits());  // of chunks
#pragma omp parallel for schedule(static)
  for (std::size_t first = 0; first < held.size(); first += run) {
    std::vector<F> values(shape.chunk_size() * std::min(run, held.size() - first));
    stream.elements(held[first] * shape.chunk_size(), std::span<F>(values));  // a rank's chunks are neighbours
    for (std::size_t i = 0; i < values.size(); ++i) {
      columns.values()[first * shape.chunk_size() + i] = signed_value(values[i]);
    }
  }
  return columns;
}

MaskColumns::MaskColumns(const Shape& row_mask_shape, const Shape& tail_shape, unsigned row_variables,
                         const OracleParameters& oracle, const Digest& seed, const Communicator& comm)
    : row_masks_(elements(seed, "row masks", hiding_row_masks(row_variables))),
      columns_(constant_columns(row_mask_shape, row_masks_, oracle.log_rows, comm)),
      tail_(random_columns(tail_shape, KeyedStream(seed, "tail"), comm)) {}

HidingWitness::HidingWitness(const HidingPlan& plan, const OracleParameters& witness_oracle, const Digest& seed,
                             const Communicator& comm)
    : pads_(elements(seed, "pads", plan.pads.pads)),
      masks_(plan.shapes[HidingPlan::mask], plan.shapes[HidingPlan::tail], plan.row_variables, witness_oracle, seed,
             comm) {
  for (const auto& [first, second] : plan.pads.pairs) {
    left_.push_back(pads_[first]);
    right_.push_back(pads_[second]);
  }
  const std::vector<E> pair = elements(seed, "random pair", 2);
  left_.push_back(pair[0]);
  right_.push_back(pair[1]);
  left_.resize(std::size_t{1} << plan.log_products);
  right_.resize(left_.size());
  std::vector<E> products(left_.size());
  for (std::size_t k = 0; k < products.size(); ++k) {
    products[k] = left_[k] * right_[k];
  }
  using Tensor = HidingPlan::Tensor;
  tensors_.push_back(cells_of(plan.shapes[Tensor::pad], pads_, comm));
  tensors_.push_back(cells_of(plan.shapes[Tensor::left], left_, comm));
  tensors_.push_back(cells_of(plan.shapes[Tensor::right], right_, comm));
  tensors_.push_back(cells_of(plan.shapes[Tensor::product], products, comm));
}

std::vector<IntegerTensor> HidingWitness::tensors() const {
  std::vector<IntegerTensor> views;
  for (const auto& tensor : tensors_) {
    views.emplace_back(&tensor);
  }
  std::ranges::copy(masks_.tensors(), std::back_inserter(views));
  return views;
}

}  // namespace tessera
