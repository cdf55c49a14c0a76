#include <algorithm>
#include <atomic>
#include <functional>
#include <stdexcept>
#include "lookup/fraction_tree.hpp"
#include "lookup/strange_value.hpp"

namespace tessera {

void read_chunk(const LookupColumnData& column, std::size_t chunk, std::span<std::uint32_t> a,
                std::span<std::int32_t> b) {
  const LeafIntegers leaves = column.in_place ? column.in_place(chunk) : LeafIntegers{};
  if (!leaves.has_a() || (!b.empty() && !leaves.has_b())) {
    column.read(chunk, a, b);
    return;
  }
  if (leaves.narrow != nullptr) {
    const auto added = static_cast<std::uint16_t>(leaves.added);
    std::transform(leaves.narrow, leaves.narrow + a.size(), a.begin(),
                   [added](std::uint16_t value) { return static_cast<std::uint16_t>(value + added); });
  } else {
    std::transform(leaves.wide, leaves.wide + a.size(), a.begin(),
                   [added = leaves.added](std::uint32_t value) { return value + added; });
  }
  if (!b.empty() && leaves.narrow_b != nullptr) {
    std::copy_n(leaves.narrow_b, b.size(), b.begin());
  } else if (!b.empty()) {
    std::copy_n(leaves.wide_b, b.size(), b.begin());
  }
}

std::vector<std::vector<std::int64_t>> count_multiplicities(const LookupStructure& structure,
                                                            std::span<const LookupColumnData> columns,
                                                            Communicator& comm, OutOfRange out_of_range) {
  std::vector<std::size_t> first{0};  // of every table in the flat list of all rows
  for (const LookupTable& table : structure.tables) {
    first.push_back(first.back() + (std::size_t{1} << table.log_size));
  }
  std::vector<std::int64_t> total(first.back());
  std::atomic<bool> outside = false;
#pragma omp parallel
  {
    std::vector<std::int64_t> mine(total.size());
    std::vector<std::uint32_t> a;
    std::vector<std::int32_t> b;
    for (std::size_t c = 0; c < structure.columns.size(); ++c) {
      const Shape& shape = structure.columns[c].shape;
      const LookupTable& table = structure.tables[structure.columns[c].table];
      std::int64_t* rows = mine.data() + first[structure.columns[c].table];
      a.resize(shape.chunk_size());
      b.resize(table.values.empty() ? 0 : shape.chunk_size());
#pragma omp for schedule(dynamic) nowait
      for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
        if (chunk_owner(columns[c].ownership, shape, chunk, comm.size()) != comm.rank()) {
          continue;
        }
        read_chunk(columns[c], chunk, a, b);
        for (std::size_t i = 0; i < a.size(); ++i) {
          if (a[i] >> table.log_size != 0 || (!b.empty() && table.values[a[i]] != b[i])) {
            outside = true;
          } else {
            ++rows[a[i]];
          }
        }
      }
    }
#pragma omp critical(tessera_lookup_counts)
    std::transform(total.begin(), total.end(), mine.begin(), total.begin(), std::plus<>());
  }
  std::int64_t failed = outside ? 1 : 0;
  comm.all_reduce_max(std::span(&failed, 1));
  if (failed != 0 && out_of_range == OutOfRange::refuse) {
    throw StrangeValue("count_multiplicities: a looked-up value is not a row of its table");
  }
  comm.all_reduce_sum(std::span(total));
  std::vector<std::vector<std::int64_t>> result;
  for (std::size_t t = 0; t < structure.tables.size(); ++t) {
    result.emplace_back(total.begin() + static_cast<std::ptrdiff_t>(first[t]),
                        total.begin() + static_cast<std::ptrdiff_t>(first[t + 1]));
  }
  return result;
}

}  // namespace tessera
