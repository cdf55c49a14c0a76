#include "commitment/compact_codeword.hpp"

#include <algorithm>

#include "base/errors.hpp"
#include "commitment/row_groups.hpp"

namespace tessera {

unsigned compact_level(const OracleLayout& layout, const OracleParameters& parameters, unsigned level) {
  return std::min(level, layout.log_size() - parameters.log_rows + parameters.log_inverse_rate);
}

CompactCodewordStore::CompactCodewordStore(OracleLayout layout, OracleParameters parameters,
                                           std::vector<IntegerTensor> tensors, TreeLevel nodes, Communicator& comm,
                                           unsigned level)
    : layout_(std::move(layout)),
      parameters_(parameters),
      tensors_(std::move(tensors)),
      level_(compact_level(layout_, parameters, level)),
      upper_(merkle_levels(std::move(nodes))),
      comm_(comm) {}

std::vector<F> CompactCodewordStore::columns(std::span<const std::size_t> positions) {
  lower_.clear();
  for (const std::size_t position : positions) {
    lower_[position >> level_];
  }
  const std::size_t side = std::size_t{1} << level_;
  std::vector<std::size_t> all;
  for (const auto& [node, levels] : lower_) {
    for (std::size_t i = 0; i < side; ++i) {
      all.push_back((node << level_) + i);
    }
  }
  const std::vector<F> values = columns_at(layout_, parameters_, tensors_, all, comm_);
  const std::size_t width = std::size_t{1} << parameters_.log_rows;
  std::size_t first = 0;
  for (auto& [node, levels] : lower_) {
    levels = merkle_levels(hash_columns(std::span(values).subspan(first, side * width), width));
    if (levels.back().front() != upper_.front()[node]) {
      throw InputError("commitment: node " + std::to_string(node) + " of level " + std::to_string(level_) +
                       ": expected that of the committed values, found another one");
    }
    first += side * width;
  }
  std::vector<F> result;
  result.reserve(positions.size() * width);
  for (const std::size_t position : positions) {
    const auto place = std::ranges::lower_bound(all, position) - all.begin();
    const auto column = values.begin() + place * static_cast<std::ptrdiff_t>(width);
    result.insert(result.end(), column, column + static_cast<std::ptrdiff_t>(width));
  }
  return result;
}

std::vector<Digest> CompactCodewordStore::nodes(unsigned level, std::span<const std::size_t> indices) {
  std::vector<Digest> result;
  result.reserve(indices.size());
  for (const std::size_t index : indices) {
    if (level >= level_) {
      result.push_back(upper_[level - level_][index]);
    } else {
      const std::size_t node = index >> (level_ - level);
      result.push_back(lower_.at(node)[level][index - (node << (level_ - level))]);
    }
  }
  return result;
}

}  // namespace tessera
