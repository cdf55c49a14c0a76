#pragma once

#include <span>
#include <string_view>

#include "base/range.hpp"

namespace tessera {

/// Throws std::logic_error naming the tensor, the rows asked for and those that are held.
[[noreturn]] void refuse_rows(std::string_view tensor, Range asked, Range held);

/// A row-major matrix of which a rank holds consecutive rows, in whole rows. Vectors have one column.
template <class T>
struct RowBlock {
  std::string_view tensor;
  Range held;
  std::size_t columns = 0;
  T* values = nullptr;  // of row held.first

  /// Rows `range`, one after the other. Throws std::logic_error unless all of them are held.
  [[nodiscard]] std::span<T> rows(Range range) const {
    if (range.size() == 0) {
      return {};
    }
    if (!held.contains(range)) {
      refuse_rows(tensor, range, held);
    }
    return {values + (range.first - held.first) * columns, range.size() * columns};
  }
  [[nodiscard]] std::span<T> row(std::size_t index) const { return rows({index, index + 1}); }
};

}  // namespace tessera
