#include "words/compact_codeword.hpp"

#include <algorithm>

#include "base/errors.hpp"
#include "words/row_groups.hpp"

namespace tessera {

void check_columns(std::span<const F> columns, std::span<const std::size_t> positions, std::span<const Digest> leaves) {
  if (positions.empty()) {
    return;
  }
  const std::size_t width = columns.size() / positions.size();
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (hash_leaf(columns.subspan(i * width, width)) != leaves[i]) {
      throw WrongColumn("commitment: column " + std::to_string(positions[i]) +
                        ": expected that of the committed values, found another one");
    }
  }
}

std::size_t compact_nodes(const OracleLayout& layout, const OracleParameters& parameters) {
  return layout.domain(parameters).points() / 2;
}

CompactCodewordStore::CompactCodewordStore(OracleLayout layout, OracleParameters parameters,
                                           std::vector<IntegerTensor> tensors, TreeLevel nodes, Communicator& comm)
    : layout_(std::move(layout)), parameters_(parameters), tensors_(std::move(tensors)), comm_(comm) {
  if (nodes.size() != compact_nodes(layout_, parameters_)) {
    throw InputError("commitment: nodes: expected " + std::to_string(compact_nodes(layout_, parameters_)) + ", found " +
                     std::to_string(nodes.size()));
  }
  upper_ = tree_above(layout_.domain(parameters_), 1, std::move(nodes));
}

std::vector<F> CompactCodewordStore::columns(std::span<const std::size_t> positions) {
  leaves_.clear();
  for (const std::size_t position : positions) {
    leaves_[position / 2];
  }
  std::vector<std::size_t> all;
  for (const auto& [node, leaves] : leaves_) {
    all.insert(all.end(), {2 * node, 2 * node + 1});
  }
  const std::vector<F> values = columns_at(layout_, parameters_, tensors_, all, comm_);
  const std::size_t width = parameters_.rows();
  std::size_t first = 0;
  for (auto& [node, leaves] : leaves_) {
    leaves = hash_columns(std::span(values).subspan(first, 2 * width), width);
    if (merkle_parents(leaves).front() != upper_.front()[node]) {
      throw WrongColumn("commitment: columns " + std::to_string(2 * node) + " and " + std::to_string(2 * node + 1) +
                        ": expected those of the committed values, found others");
    }
    first += 2 * width;
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
    result.push_back(level == 0 ? leaves_.at(index / 2)[index % 2] : upper_[level - 1][index]);
  }
  return result;
}

}  // namespace tessera
