#pragma once

#include <map>
#include <vector>

#include "field/goldilocks.hpp"
#include "field/scale_kernels.hpp"

namespace tessera::test {

/// Rows over F in echelon form: what they span.
class Echelon {
 public:
  /// Whether the row was outside of the span before.
  bool add(std::vector<F> row) {
    const std::size_t lead = reduce(row);
    if (lead == row.size()) {
      return false;
    }
    scale(row[lead].inverse(), row.data() + lead, row.size() - lead, row.data() + lead);
    rows_.emplace(lead, std::move(row));
    return true;
  }
  [[nodiscard]] bool spans(std::vector<F> row) const { return reduce(row) == row.size(); }
  [[nodiscard]] std::size_t rank() const { return rows_.size(); }

 private:
  /// Where the first element that is left stands.
  std::size_t reduce(std::vector<F>& row) const {
    for (std::size_t lead = 0; lead < row.size(); ++lead) {
      if (row[lead] == F{}) {
        continue;
      }
      const auto found = rows_.find(lead);
      if (found == rows_.end()) {
        return lead;
      }
      add_scaled(F{} - row[lead], found->second.data() + lead, row.size() - lead, row.data() + lead);
    }
    return row.size();
  }

  std::map<std::size_t, std::vector<F>> rows_;  // by first element, which is one
};

}  // namespace tessera::test
