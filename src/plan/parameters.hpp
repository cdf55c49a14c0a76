#pragma once

#include <utility>

#include "parameters/table.hpp"
#include "memory/storage.hpp"
#include "tensor/row_block.hpp"

namespace tessera {

/// Values of one parameter: of all blocks, the rows that are held here, in whole rows: (block, held row, column).
template <class T>
class ParameterValues {
 public:
  ParameterValues() = default;
  /// Zeros.
  ParameterValues(const ParameterRow& row, const ModelShape& shape, Range held)
      : name_(row.name), extents_(row.extents(shape)), held_(held) {
    // with room for the padding of the oracle's tensor (Dimension::tiled), which may be made in the same memory; it is
    // not touched before
    values_.reserve((extents_.blocks * held_.size() + extents_.rows / 16) * extents_.columns);
    values_.resize(extents_.blocks * block_size());
  }

  /// Extents of the whole parameter.
  [[nodiscard]] const ParameterExtents& extents() const { return extents_; }
  [[nodiscard]] Range held() const { return held_; }
  /// Everything that is held. Of a whole parameter (block, row, column).
  [[nodiscard]] std::span<T> values() { return values_; }
  [[nodiscard]] std::span<const T> values() const { return values_; }
  /// The matrix or vector of one block < extents().blocks. Reading a row that is not held throws std::logic_error.
  [[nodiscard]] RowBlock<T> block(std::size_t number) {
    return {name_, held_, extents_.columns, values_.data() + number * block_size()};
  }
  [[nodiscard]] RowBlock<const T> block(std::size_t number) const {
    return {name_, held_, extents_.columns, values_.data() + number * block_size()};
  }
  /// How many values its memory has room for.
  [[nodiscard]] std::size_t room() const { return values_.capacity(); }
  /// Gives its memory away, with zeros behind the values up to `size`; nothing is held afterwards.
  [[nodiscard]] ZeroedVector<T> take_values(std::size_t size) {
    held_ = {};
    values_.resize(size);
    return std::exchange(values_, {});
  }
  friend bool operator==(const ParameterValues&, const ParameterValues&) = default;

 private:
  [[nodiscard]] std::size_t block_size() const { return held_.size() * extents_.columns; }

  std::string_view name_;
  ParameterExtents extents_;
  Range held_;
  ZeroedVector<T> values_;
};

/// The parameters of a model by ParameterId. A rank of several has the rows that the parameter table gives it and no
/// memory for others.
template <class T>
class BasicParameters {
 public:
  BasicParameters() = default;
  /// Zeros; of all rows, or of those that `rank` keeps.
  explicit BasicParameters(const ModelShape& shape, int rank = 0, const Division& division = {}) {
    for (const ParameterRow& row : parameter_table(shape)) {
      values_[row.id] = {row, shape, row.held_rows(shape, rank, division)};
    }
  }
  [[nodiscard]] ParameterValues<T>& operator[](ParameterId id) { return values_[id]; }
  [[nodiscard]] const ParameterValues<T>& operator[](ParameterId id) const { return values_[id]; }
  friend bool operator==(const BasicParameters&, const BasicParameters&) = default;

 private:
  ByParameter<ParameterValues<T>> values_;
};

/// The quantized parameters that are committed: 1/sqrt(m) is folded into wq and bq.
using Parameters = BasicParameters<std::int16_t>;
/// The checkpoint's own values: nothing is folded.
using FloatParameters = BasicParameters<float>;

}  // namespace tessera
