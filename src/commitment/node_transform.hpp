#pragma once

#include "commitment/coset_transform.hpp"
#include "commitment/oracle_matrix.hpp"

namespace tessera {

/// The values of an oracle's rows at this rank's positions where the ranks of a node share memory: the transpose
/// algorithm (TransposedTransform) inside the nodes, whose positions are a coset each. All coefficients come to a node
/// once; a rank adds them up into its share of the node's and transforms these across the node's classes, where the
/// node's ranks read them. No value moves between nodes, none in a message.
class NodeTransform {
 public:
  static constexpr std::size_t rows_at_once = CosetTransform::lanes;
  /// Of what a rank shows the others at a time: what a node's do stays in its caches.
  static constexpr std::size_t shown_bytes = std::size_t{1} << 20;

  /// Whether values had better move (TransposedTransform::pays()), and inside nodes: both numbers are powers of two,
  /// and the integers, most of two bytes, that come to a node are fewer bytes than its ranks' values, as on a single
  /// node. `present`: coefficients of a row; `together`: Communicator::ranks_together().
  static bool pays(const ResidueShares& positions, std::size_t present, int together);

  NodeTransform(const OracleMatrix& matrix, const ResidueShares& positions, Communicator& comm);

  /// values[place * rows_at_once + row] of the gathered rows in ResidueShares::place() order, until the next call.
  /// Collective.
  std::span<F> operator()(const GatheredRows& gathered);

 private:
  /// Positions of a class.
  [[nodiscard]] std::size_t length() const { return std::size_t{1} << positions_.log_size(); }
  [[nodiscard]] std::size_t ranks() const { return std::size_t{1} << log_ranks_; }
  /// The j < length() of the node's rank `number` that are exchanged in step `step`.
  [[nodiscard]] Range part_of(std::size_t number, std::size_t step) const;
  [[nodiscard]] std::size_t piece_bytes() const { return at_once_ * rows_at_once * sizeof(F); }
  /// Coefficients j + m length(), m < ranks(), of the node's coset for `part`, at its classes: by ranks that have these.
  void sums(Range part, const GatheredRows& gathered, std::span<std::byte> pieces) const;

  const OracleMatrix& matrix_;
  ResidueShares positions_;
  Communicator& comm_;
  unsigned log_ranks_;  // of a node
  unsigned log_nodes_;
  std::size_t node_;
  std::size_t residue_;  // of the node's positions modulo 2^log_nodes_
  CosetTransform fold_;
  std::vector<F> factors_;
  std::size_t at_once_;
  RawVector<F> values_;
  std::shared_ptr<const void> shown_;
};

}  // namespace tessera
