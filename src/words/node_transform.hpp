#pragma once

#include "words/coset_transform.hpp"
#include "words/oracle_matrix.hpp"

namespace tessera {

/// The values of an oracle's rows at this rank's positions where the ranks of a node share memory: the transpose
/// algorithm (TransposedTransform) inside the nodes, whose positions are a coset each. All coefficients come to a node
/// once; a rank adds them up into its share of the node's and transforms these across the node's classes, where the
/// node's ranks read them. No value moves between nodes, none in a message.
class NodeTransform {
 public:
  static constexpr std::size_t rows_at_once = CosetTransform::lanes;

  /// Whether values had better move (TransposedTransform::pays()), and inside nodes: both numbers are powers of two,
  /// and the integers, most of two bytes, that come to a node are fewer bytes than its ranks' values, as on a single
  /// node. `present`: coefficients of a row; `together`: Communicator::ranks_together().
  static bool pays(const ResidueShares& positions, std::size_t present, int together);

  NodeTransform(const OracleMatrix& matrix, const ResidueShares& positions, Communicator& comm);

  /// values[place * rows_at_once + row] of the gathered rows in ResidueShares::place() order, until the next call.
  /// Collective.
  std::span<F> operator()(const GatheredRows& gathered);
  /// The values go to `take`, slot i at this rank's i-th position, and nowhere else. Collective.
  void through(const GatheredRows& gathered, const TakeValues& take);
  /// What was encoded in last.
  [[nodiscard]] std::span<F> scratch() { return values_; }

 private:
  using Pieces = std::span<const std::span<const std::byte>>;
  /// Positions of a class.
  [[nodiscard]] std::size_t length() const { return std::size_t{1} << positions_.log_size(); }
  [[nodiscard]] std::size_t ranks() const { return std::size_t{1} << log_ranks_; }
  /// log2 of the j < length() whose sums a rank makes.
  [[nodiscard]] unsigned log_share() const { return positions_.log_size() - log_ranks_; }
  /// Sums of the coefficients j + m length(), m < ranks(), of the node's coset, for this rank's j, at the node's
  /// classes: a piece for each rank, which has these classes.
  void sums(const GatheredRows& gathered, std::span<std::byte> pieces) const;
  /// Coefficients of this rank's coset into their slots.
  void put(const CoefficientBlock& block, Pieces pieces) const;
  /// transform(what puts coefficients)
  void exchange(const GatheredRows& gathered, const std::function<void(const PutCoefficients&)>& transform);

  const OracleMatrix& matrix_;
  ResidueShares positions_;
  Communicator& comm_;
  unsigned log_ranks_;  // of a node
  unsigned log_nodes_;
  std::size_t number_;   // on the node
  std::size_t residue_;  // of the node's positions modulo 2^log_nodes_
  CosetTransform fold_;
  std::vector<F> factors_;
  RawVector<F> values_;
  std::shared_ptr<const void> shown_;
};

}  // namespace tessera
