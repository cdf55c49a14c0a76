#include <omp.h>

#include <algorithm>

#include "lookup/level_rounds.hpp"

namespace tessera {
namespace {

/// Nodes that are worth a thread.
constexpr std::size_t least_share = 512;

/// Calls work(share, nodes) for shares of the nodes that threads take, in their order; a pair's are in one.
template <class Work>
void for_shares(std::span<const SparseNode> nodes, std::size_t shares, const Work& work) {
  const auto begin_of = [&](std::size_t share) {
    std::size_t first = nodes.size() * share / shares;
    while (first > 0 && first < nodes.size() && nodes[first - 1].index / 2 == nodes[first].index / 2) {
      ++first;
    }
    return first;
  };
#pragma omp parallel for schedule(static) if (shares > 1)
  for (std::size_t share = 0; share < shares; ++share) {
    const std::size_t first = begin_of(share);
    work(share, nodes.subspan(first, begin_of(share + 1) - first));
  }
}

std::size_t shares_of(std::span<const SparseNode> nodes) {
  return std::clamp<std::size_t>(nodes.size() / least_share, 1, static_cast<std::size_t>(omp_get_max_threads()));
}

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
  const auto g = [&](const Children& c) { return c.q0 * (c.p1 + level.tau * c.q1) + c.p0 * c.q1; };
  std::vector<NodeSums> sums(shares_of(nodes));
  for_shares(nodes, sums.size(), [&](std::size_t share, std::span<const SparseNode> some) {
    NodeSums mine;
    for_each_pair(some, [&](std::uint64_t pair, const Children& low, const Children& high) {
      const E weight = level.eq(variables - 1, pair);
      mine.at_zero += weight * (g(low) - level.tau);
      mine.leading += weight * g({high.p0 - low.p0, high.p1 - low.p1, high.q0 - low.q0, high.q1 - low.q1});
    });
    sums[share] = mine;
  });
  for (std::size_t share = 1; share < sums.size(); ++share) {
    sums.front() += sums[share];
  }
  return sums.front();
}

std::vector<SparseNode> bind_sparse(std::span<const SparseNode> nodes, E challenge) {
  std::vector<std::vector<SparseNode>> bound(shares_of(nodes));
  for_shares(nodes, bound.size(), [&](std::size_t share, std::span<const SparseNode> some) {
    for_each_pair(some, [&](std::uint64_t pair, const Children& low, const Children& high) {
      bound[share].push_back({pair, on_line(low, high, challenge)});
    });
  });
  for (std::size_t share = 1; share < bound.size(); ++share) {
    bound.front().insert(bound.front().end(), bound[share].begin(), bound[share].end());
  }
  return std::move(bound.front());
}

}  // namespace tessera
