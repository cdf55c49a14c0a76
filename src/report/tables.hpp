#pragma once

#include <string>
#include <vector>

#include "report/view.hpp"

namespace tessera::report {

/// What stands in front of a row's values: they are compared to find rows that are the same.
struct RowName {
  std::vector<std::string> cells;  // one for each name of Columns
  std::size_t level = 0;           // how far it is moved to the right
  std::size_t colour = 0;
  friend bool operator==(const RowName& a, const RowName& b) { return a.cells == b.cells; }
};

/// Columns of a table that one proof gives: its rows in order, each with values.
struct Columns {
  std::vector<std::string> names;  // heads of what stands in front, the same in all
  std::vector<std::string> heads;  // of the values
  struct Row {
    RowName name;
    std::vector<std::string> values;  // one for each head
  };
  std::vector<Row> rows;
};

/// One table, or several below each other if it would be too wide: a column for each proof's values, in the order of
/// the proofs. Those with the same columns share them. Rows of the same name are one row; others stand where their
/// proof has them. `heads` are numbered if there are several proofs.
View merged_tables(const std::string& title, const std::string& note, const std::vector<Columns>& proofs);

}  // namespace tessera::report
