#include "lookup/sparse_nodes.hpp"

#include <cstring>
#include <numeric>

#include "lookup/fraction_tree.hpp"

namespace tessera {
namespace {

/// Where a share of two ascending lists begins in each: what stands before it comes first in both.
struct Places {
  std::size_t own = 0, added = 0;
};

/// The ends of shares too, one more than there are shares: the longer list is cut in equal parts.
std::vector<Places> cut(std::span<const SparseNode> own, std::span<const Segment> added, std::size_t shares) {
  std::vector<Places> begins(shares + 1);
  begins.back() = {own.size(), added.size()};
  for (std::size_t share = 1; share < shares; ++share) {
    Places& begin = begins[share];
    if (own.size() >= added.size()) {
      begin.own = own.size() * share / shares;
      const auto found = std::ranges::lower_bound(added, own[begin.own].index, {}, &Segment::place);
      begin.added = static_cast<std::size_t>(found - added.begin());
    } else {
      begin.added = added.size() * share / shares;
      const auto found = std::ranges::lower_bound(own, added[begin.added].place, {}, &SparseNode::index);
      begin.own = static_cast<std::size_t>(found - own.begin());
    }
  }
  return begins;
}

}  // namespace

void SparseNodes::add(const SegmentClass& segments, const std::function<Children(std::size_t)>& node) {
  const std::vector<Segment>& added = segments.segments;
  RawVector<SparseNode> both(own.size() + added.size());
  const std::size_t shares = shares_of(both.size());
  const std::vector<Places> begins = cut(own, added, shares);
#pragma omp parallel for schedule(static) if (shares > 1)
  for (std::size_t share = 0; share < shares; ++share) {
    const Places& end = begins[share + 1];
    auto [i, k] = begins[share];
    while (i < end.own || k < end.added) {
      const bool is_own = k == end.added || (i < end.own && own[i].index < added[k].place);
      SparseNode& next = both[i + k];
      if (is_own) {
        next = own[i++];
      } else {
        next = {added[k].place, node(k)};
        ++k;
      }
    }
  }
  own = std::move(both);
}

void SparseNodes::move(const NodeOwners& owners, unsigned height, Communicator& comm) {
  if (height == owners.top()) {
    std::vector<SparseNode> all = comm.all_gather<SparseNode>(own);
    std::ranges::sort(all, {}, &SparseNode::index);
    shared = {all.begin(), all.end()};
    own.clear();
  } else if (height < owners.top() && owners.any(height)) {
    std::vector<MessageBytes> send(static_cast<std::size_t>(comm.size()));
    RawVector<SparseNode> staying;
    const std::span<const NodeOwners::Move> moves = owners.moves(height);
    auto next = moves.begin();
    for (const SparseNode& node : own) {
      if (next == moves.end() || next->index != node.index) {
        staying.push_back(node);
        continue;
      }
      const auto bytes = std::as_bytes(std::span(&node, 1));
      MessageBytes& to = send[static_cast<std::size_t>(next++->to)];
      to.insert(to.end(), bytes.begin(), bytes.end());
    }
    own = std::move(staying);
    for (const MessageBytes& bytes : comm.all_to_all_bytes(std::move(send))) {
      for (std::size_t first = 0; first + sizeof(SparseNode) <= bytes.size(); first += sizeof(SparseNode)) {
        std::memcpy(static_cast<void*>(&own.emplace_back()), bytes.data() + first, sizeof(SparseNode));
      }
    }
    std::ranges::sort(own, {}, &SparseNode::index);
  }
}

RawVector<SparseNode> pair_up(std::span<const SparseFraction> fractions) {
  const std::size_t shares = shares_of(fractions.size());
  std::vector<std::size_t> first(shares + 1);
  for_shares(fractions, shares, [&](std::size_t share, std::span<const SparseFraction> some) {
    std::size_t parents = 0;
    for (std::size_t i = 0; i < some.size(); ++i) {
      parents += i == 0 || some[i - 1].index / 2 != some[i].index / 2 ? 1 : 0;
    }
    first[share + 1] = parents;
  });
  std::partial_sum(first.begin(), first.end(), first.begin());
  RawVector<SparseNode> nodes(first.back());
  for_shares(fractions, shares, [&](std::size_t share, std::span<const SparseFraction> some) {
    SparseNode* next = nodes.data() + first[share];
    for (std::size_t i = 0; i < some.size(); ++next) {
      *next = {some[i].index / 2, {}};
      for (; i < some.size() && some[i].index / 2 == next->index; ++i) {
        const bool even = some[i].index % 2 == 0;
        (even ? next->children.p0 : next->children.p1) = some[i].value.p;
        (even ? next->children.q0 : next->children.q1) = some[i].value.q;
      }
    }
  });
  return nodes;
}

RawVector<SparseFraction> combined(std::span<const SparseNode> nodes) {
  RawVector<SparseFraction> fractions(nodes.size());
#pragma omp parallel for schedule(static) if (shares_of(nodes.size()) > 1)
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    fractions[i] = {nodes[i].index, nodes[i].children.combine()};
  }
  return fractions;
}

void bind_sparse(RawVector<SparseNode>& nodes, E challenge) {
  std::vector<Range> bound(shares_of(nodes.size()));
  for_shares(std::span(nodes), bound.size(), [&](std::size_t share, std::span<SparseNode> some) {
    const auto first = static_cast<std::size_t>(some.data() - nodes.data());
    bound[share] = {first, first + bind_pairs_in_place(some, challenge)};
  });
  auto end = nodes.begin() + static_cast<std::ptrdiff_t>(bound.front().last);
  for (const Range& share : std::span(bound).subspan(1)) {
    end = std::move(nodes.begin() + static_cast<std::ptrdiff_t>(share.first),
                    nodes.begin() + static_cast<std::ptrdiff_t>(share.last), end);
  }
  nodes.erase(end, nodes.end());
}

}  // namespace tessera
