#include <algorithm>
#include <array>

#include "lookup/level_rounds.hpp"

namespace tessera {
namespace {

std::vector<std::vector<E>> prefix_tables(std::span<const E> point) {
  std::vector<std::vector<E>> tables;
  for (std::size_t i = 0; i <= point.size(); ++i) {
    tables.push_back(eq_table(point.first(i)));
  }
  return tables;
}

/// Calls visit(pair index, low, high) for every pair with a listed node; the other one may be neutral.
template <class Visit>
void for_each_pair(std::span<const SparseNode> nodes, const Visit& visit) {
  for (std::size_t i = 0; i < nodes.size();) {
    const std::uint64_t pair = nodes[i].index / 2;
    Children low;
    Children high;
    for (; i < nodes.size() && nodes[i].index / 2 == pair; ++i) {
      (nodes[i].index % 2 == 0 ? low : high) = nodes[i].children;
    }
    visit(pair, low, high);
  }
}

/// Pairs of a thread's nodes in blocks, as the kernels take them.
class PairBatch {
 public:
  static constexpr std::size_t most = 128;
  PairBatch() : nodes_(allocate_nodes(2 * most)) {
    for (std::size_t node = 0; node < 2 * most; ++node) {
      store_children(nodes_.data(), node, {});
    }
  }
  [[nodiscard]] ChildrenBlock* nodes() const { return nodes_.data(); }
  [[nodiscard]] std::size_t size() const { return count_; }
  /// Pairs that kernels work on: some behind the last one.
  [[nodiscard]] std::size_t padded() const {
    return (count_ + 2 * block_lanes - 1) / (2 * block_lanes) * 2 * block_lanes;
  }
  void put(const Children& low, const Children& high) {
    store_children(nodes_.data(), 2 * count_, low);
    store_children(nodes_.data(), 2 * count_ + 1, high);
    ++count_;
  }
  void clear() { count_ = 0; }

 private:
  BlockBuffer<ChildrenBlock> nodes_;
  std::size_t count_ = 0;
};

/// Calls visit(batch, indices of its pairs) for batches of the pairs with a listed node.
template <class Visit>
void for_batches(std::span<const SparseNode> nodes, const Visit& visit) {
  static thread_local PairBatch batch;
  std::array<std::uint64_t, PairBatch::most> indices;
  const auto take = [&] {
    visit(batch, indices);
    batch.clear();
  };
  for_each_pair(nodes, [&](std::uint64_t pair, const Children& low, const Children& high) {
    indices[batch.size()] = pair;
    batch.put(low, high);
    if (batch.size() == PairBatch::most) {
      take();
    }
  });
  if (batch.size() > 0) {
    take();
  }
}

}  // namespace

PrefixEq::PrefixEq(std::span<const E> point)
    : split_((point.size() + 1) / 2),
      high_(prefix_tables(point.first(split_))),
      low_(prefix_tables(point.subspan(split_))) {}

ProductWeights PrefixEq::products(std::size_t coordinates) const {
  const std::size_t high = std::min(coordinates, split_);
  return {high_[high], low_[coordinates - high]};
}

NodeSums sparse_sums(std::span<const SparseNode> nodes, const LevelContext& level, std::size_t variables) {
  const ProductWeights products = level.eq.products(variables - 1);
  std::vector<NodeSums> sums(shares_of(nodes.size()));
  for_shares(nodes, sums.size(), [&](std::size_t share, std::span<const SparseNode> some) {
    NodeSums mine;
    E total_weight;
    for_batches(some, [&](const PairBatch& batch, std::array<std::uint64_t, PairBatch::most>& indices) {
      std::array<WeightBlock, PairBatch::most / block_lanes> weights;
      std::fill(indices.begin() + batch.size(), indices.begin() + batch.padded(), 0);
      total_weight += put_weights(products, indices.data(), batch.size(), batch.padded(), weights.data());
      mine += first_round(batch.nodes(), weights.data(), level.tau, batch.padded());
    });
    mine.at_zero -= level.tau * total_weight;
    sums[share] = mine;
  });
  for (std::size_t share = 1; share < sums.size(); ++share) {
    sums.front() += sums[share];
  }
  return sums.front();
}

}  // namespace tessera
