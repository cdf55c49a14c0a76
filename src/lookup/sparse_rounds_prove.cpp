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

}  // namespace

PrefixEq::PrefixEq(std::span<const E> point)
    : split_((point.size() + 1) / 2),
      high_(prefix_tables(point.first(split_))),
      low_(prefix_tables(point.subspan(split_))) {}

E PrefixEq::operator()(std::size_t coordinates, std::size_t index) const {
  if (coordinates <= split_) {
    return high_[coordinates][index];
  }
  const std::size_t low_bits = coordinates - split_;
  return high_[split_][index >> low_bits] * low_[low_bits][index & ((std::size_t{1} << low_bits) - 1)];
}

NodeSums sparse_sums(std::span<const SparseNode> nodes, const LevelContext& level, std::size_t variables) {
  NodeSums sums;
  for_each_pair(nodes, [&](std::uint64_t pair, const Children& low, const Children& high) {
    const E weight = level.eq(variables - 1, pair);
    const auto g = [&](const Children& c) { return c.q0 * (c.p1 + level.tau * c.q1) + c.p0 * c.q1; };
    sums.at_zero += weight * (g(low) - level.tau);
    sums.leading += weight * g({high.p0 - low.p0, high.p1 - low.p1, high.q0 - low.q0, high.q1 - low.q1});
  });
  return sums;
}

std::vector<SparseNode> bind_sparse(std::span<const SparseNode> nodes, E challenge) {
  std::vector<SparseNode> bound;
  for_each_pair(nodes, [&](std::uint64_t pair, const Children& low, const Children& high) {
    bound.push_back({pair, on_line(low, high, challenge)});
  });
  return bound;
}

}  // namespace tessera
