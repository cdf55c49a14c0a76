#include "report/tables.hpp"

#include <algorithm>

#include "report/text.hpp"

namespace tessera::report {
namespace {

constexpr std::size_t most_together = 8;  // proofs beside each other

/// Proofs whose columns are the same, by their numbers: "1, 3".
struct Shared {
  std::string numbers;
  const Columns* columns;
};

bool same(const Columns& a, const Columns& b) {
  return std::ranges::equal(a.rows, b.rows, [](const Columns::Row& x, const Columns::Row& y) {
    return x.name == y.name && x.values == y.values;
  });
}

std::vector<Shared> shared(const std::vector<Columns>& proofs) {
  std::vector<Shared> groups;
  for (std::size_t i = 0; i < proofs.size(); ++i) {
    const auto found =
        std::ranges::find_if(groups, [&](const Shared& group) { return same(*group.columns, proofs[i]); });
    if (found == groups.end()) {
      groups.push_back({std::to_string(i + 1), &proofs[i]});
    } else {
      found->numbers += ", " + std::to_string(i + 1);
    }
  }
  return groups;
}

/// Rows of several proofs, with the values of those that have them.
struct Merged {
  const RowName* name;
  std::vector<const std::vector<std::string>*> values;  // by proof; nothing: it has no such row
};

std::vector<Merged> merged(std::span<const Shared> groups) {
  std::vector<Merged> rows;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::size_t next = 0;  // behind this proof's last row
    for (const Columns::Row& row : groups[g].columns->rows) {
      const auto from = rows.begin() + static_cast<std::ptrdiff_t>(next);
      auto found = std::find_if(from, rows.end(), [&](const Merged& other) { return *other.name == row.name; });
      if (found == rows.end()) {
        found = rows.insert(from, {&row.name, std::vector<const std::vector<std::string>*>(groups.size())});
      }
      found->values[g] = &row.values;
      next = static_cast<std::size_t>(found - rows.begin()) + 1;
    }
  }
  return rows;
}

View row_view(const Merged& row, std::span<const Shared> groups) {
  View names = View::array();
  for (const std::string& cell : row.name->cells) {
    names.push_back({{"name", cell}, {"first", names.empty()}});
  }
  View cells = View::array();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (std::size_t i = 0; i < groups[g].columns->heads.size(); ++i) {
      cells.push_back(row.values[g] == nullptr ? "–" : (*row.values[g])[i]);
    }
  }
  return {{"names", names},
          {"cells", cells},
          {"level", std::to_string(std::min<std::size_t>(row.name->level, 6))},
          {"row_colour", std::to_string(row.name->colour)}};
}

}  // namespace

View merged_tables(const std::string& title, const std::string& note, const std::vector<Columns>& proofs) {
  const std::vector<Shared> groups = shared(proofs);
  View tables = View::array();
  for (std::size_t begin = 0; begin < groups.size(); begin += most_together) {
    const auto some = std::span(groups).subspan(begin, std::min(most_together, groups.size() - begin));
    View heads = View::array();
    for (const Shared& group : some) {
      for (const std::string& head : group.columns->heads) {
        heads.push_back(proofs.size() == 1 ? head : group.numbers + (head.empty() ? "" : ": " + head));
      }
    }
    View rows = View::array();
    for (const Merged& row : merged(some)) {
      rows.push_back(row_view(row, some));
    }
    tables.push_back({{"name_heads", proofs.front().names}, {"heads", heads}, {"rows", rows}});
  }
  return {{"table_title", title}, {"table_note", note}, {"parts", tables}};
}

}  // namespace tessera::report
