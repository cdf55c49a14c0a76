#pragma once

#include "tensor/chunked_factor.hpp"

namespace tessera {

/// A = q*k^T of all blocks, heads and groups, weighed with beta of a point's coordinates for these and summed: what a
/// mask that is the same for all of them stands beside. Over (Q,K), or over (B,Q,K) where masks differ by block.
///
/// A(.., i, c) = sum_{b,g,j} beta(p_b,b)*beta(p_g,g)*beta(p_j,j) * sum_x q(b,g,j,x,i)*k(b,g,x,c), above the diagonal
/// too. q and k as for multiply_tiles(); x may be several dimensions.
class ScoreProduct {
 public:
  /// `scores` (B,G,J,Q,K), of whose tiles this rank has those of `tiles`; `over`: of the sum. Keeps references to q and
  /// k, int16, which have what the rank's tiles are made of. Collective.
  ScoreProduct(const Shape& scores, const Ownership& tiles, const ChunkedTensor<std::int16_t>& q,
               const ChunkedTensor<std::int16_t>& k, Shape over, const TensorPoint& point, Communicator& comm);
  /// A view of this.
  [[nodiscard]] TableFactor factor() const;

 private:
  /// A on the outer cube, inner variables of Q and K bound.
  [[nodiscard]] std::vector<E> bound(std::span<const E> inner_point, Communicator& comm) const;
  /// The heads of which this rank owns the first tile, so that it has all of them: numbers of (block, head).
  [[nodiscard]] std::vector<std::size_t> own_heads(const Communicator& comm) const;
  /// The tile of the sum to which a tile of the scores is added.
  [[nodiscard]] std::size_t place_in_sum(std::size_t tile) const;
  /// Neighbouring tiles of A that are sums over the same heads, in runs that are multiplied at once; `summed`: the
  /// tiles of the scores of each.
  [[nodiscard]] std::vector<Range> runs_of_keys(std::span<const std::vector<std::size_t>> summed) const;
  /// One head's products (queries, keys of all tiles), tile by tile into rows of (tile, head, query, key).
  void put_tiles(std::span<const double> products, std::size_t tiles, std::span<std::int64_t> to) const;
  [[nodiscard]] bool by_block() const { return over_.dimensions().size() == 3; }

  Shape scores_, over_;
  const ChunkedTensor<std::int16_t>& q_;
  const ChunkedTensor<std::int16_t>& k_;
  Ownership tiles_;                         // who owns which tile of the scores
  std::vector<E> blocks_, heads_, groups_;  // weights
  std::vector<E> values_;                   // of the tiles that are there
};

}  // namespace tessera
