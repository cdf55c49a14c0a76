#pragma once

#include "words/oracle_matrix.hpp"
#include "words/residue_shares.hpp"

namespace tessera {

/// The values of an oracle's rows at this rank's positions, by the transpose algorithm. With C classes of L positions,
/// w of the domain's order, the value at position q + C i is
///
///   sum_(j < L) w^((q + C i) j) s_q(j),   s_q(j) = sum_m a_(j + m L) (w^L)^(q m):
///
/// a rank has the coefficients of its share of the j, makes s_q(j) for all q by transforms of length C, and sends them
/// to those who have the classes q, where what is left is a transform of length L on a coset. Every value moves once
/// between ranks, no rank needs all coefficients, and no work is done twice. (CosetTransform adds up s_q alone, from
/// all coefficients: nothing moves, but each rank does all of these sums, which costs more once they are long.)
class TransposedTransform {
 public:
  static constexpr std::size_t rows_at_once = 8;                    // a block of the hash
  static constexpr std::size_t block_bytes = std::size_t{1} << 17;  // that one thread transforms
  /// Most bytes that a rank sends in one call: they are in memory twice, beside the values.
  static constexpr std::size_t sent_bytes = std::size_t{1} << 22;

  /// Whether sums of coefficients are so long that values had better move. `present`: coefficients of a row.
  static bool pays(const ResidueShares& positions, std::size_t present) {
    constexpr std::size_t long_sum = 8;
    return positions.ranks() > 1 && present > long_sum << positions.log_size();
  }

  /// Takes this rank's coefficients. Collective.
  TransposedTransform(const OracleMatrix& matrix, const ResidueShares& positions, Communicator& comm);

  /// values[place * rows_at_once + row] of rows first_row, first_row + 1, ... in ResidueShares::place() order, until
  /// the next call. Collective.
  std::span<F> operator()(std::size_t first_row);

 private:
  /// A column's integers in `bytes_`: the first `rows` rows, the others are zero.
  struct Column {
    std::size_t first = 0;
    std::uint8_t rows = 0;
    std::uint8_t type = 0;  // its place among IntegerTensor's alternatives
  };
  [[nodiscard]] std::size_t classes() const { return std::size_t{1} << positions_.log_count(); }
  [[nodiscard]] std::size_t length() const { return std::size_t{1} << positions_.log_size(); }
  /// The j of a rank.
  [[nodiscard]] Range share_of(std::size_t rank) const {
    return contiguous_range(length(), static_cast<int>(rank), positions_.ranks());
  }
  /// The j of share_of(rank) whose sums are exchanged in step `step`.
  [[nodiscard]] Range part_of(std::size_t rank, std::size_t step) const;
  void read(const Column& column, std::size_t first_row, F* to) const;
  /// s_q(j) of `part` for all q, to the ranks that have these classes: class after class, of each the j ascending.
  [[nodiscard]] std::vector<MessageBytes> sums(Range part, std::size_t first_row) const;
  void place(const MessageBytes& message, Range part);

  ResidueShares positions_;
  Communicator& comm_;
  Range mine_;                   // j of this rank
  std::size_t terms_;            // m below this one
  std::size_t at_once_;          // of a rank's j that are exchanged in one call
  std::vector<Column> columns_;  // of j + m L: m * mine_.size() + j - mine_.first
  MessageBytes bytes_;
  RawVector<F> values_;
};

}  // namespace tessera
