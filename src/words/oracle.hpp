#pragma once

#include <algorithm>
#include <bit>

#include "cluster/communicator.hpp"
#include "hash/blake2s.hpp"
#include "tensor/chunked_tensor.hpp"

namespace tessera {

/// Neighbouring rows of an oracle's matrix: `first` is a multiple of 2^log_rows.
struct RowBand {
  std::size_t first = 0;
  unsigned log_rows = 0;
  [[nodiscard]] std::size_t rows() const { return std::size_t{1} << log_rows; }
};

/// The points on which rows are evaluated, and the order of the leaves with their values. Of the 2^log_size powers of a
/// root of unity omega all are there, leaf x at omega^x, or the first of 2^log_pieces pieces: piece p has those whose
/// exponents end with p's bits in reverse. Neighbouring pieces, 2^k of them from a multiple of 2^k on, are a coset.
struct WordDomain {
  static constexpr unsigned log_pieces = 6;
  unsigned log_size = 0;
  std::uint32_t absent_pieces = 0;  ///< the last ones; 0: leaves are in the order of their points

  static constexpr unsigned least_in_pieces = 12;  ///< log_size of one that is not whole
  [[nodiscard]] bool whole() const { return absent_pieces == 0; }
  /// Whether there is such a domain: with half of its pieces absent it would be one of fewer roots.
  [[nodiscard]] bool valid() const {
    return whole() || (log_size >= least_in_pieces && absent_pieces < (std::uint32_t{1} << log_pieces) / 2);
  }
  [[nodiscard]] std::size_t pieces() const { return (std::size_t{1} << log_pieces) - absent_pieces; }
  /// log2 of the points of a piece.
  [[nodiscard]] unsigned log_piece() const { return log_size - log_pieces; }
  [[nodiscard]] std::uint64_t points() const {
    return whole() ? std::uint64_t{1} << log_size : std::uint64_t{pieces()} << log_piece();
  }
  /// The point of a leaf is omega to this.
  [[nodiscard]] std::size_t exponent(std::size_t leaf) const;

  /// The domain with the fewest points, but no less than so many, in pieces if it is large enough for that.
  static WordDomain of(std::uint64_t least_points);
};
/// The exponents of the points of some leaves.
std::vector<std::size_t> exponents(const WordDomain& domain, std::span<const std::size_t> leaves);

/// A committed oracle's public side: a matrix whose rows are coefficient vectors of Reed-Solomon codewords. Its columns
/// are padded to a power of two, and evaluated on points among 2^log_inverse_rate times as many roots of unity; a
/// Merkle leaf = the rows' values at its point.
struct OracleParameters {
  unsigned log_rows = 6;
  unsigned log_inverse_rate = 1;
  std::uint32_t absent_rows = 0;    ///< the last ones of 2^log_rows, which are zero and in no leaf
  std::uint32_t absent_pieces = 0;  ///< of the points

  [[nodiscard]] std::size_t rows() const { return (std::size_t{1} << log_rows) - absent_rows; }
  /// The rows as powers of two, largest first: chunks lie in one of these bands.
  [[nodiscard]] std::size_t band_count() const { return static_cast<std::size_t>(std::popcount(rows())); }
  [[nodiscard]] RowBand band(std::size_t number) const {
    RowBand band;
    for (std::size_t left = rows();; --number, left -= band.rows(), band.first += band.rows()) {
      band.log_rows = static_cast<unsigned>(std::bit_width(left)) - 1;
      if (number == 0) {
        return band;
      }
    }
  }
};

/// The most rows that an oracle has, log2.
inline constexpr unsigned most_log_rows = 7;
/// Rows are absent by 8: as many are encoded at once, a cache line of a column.
inline constexpr unsigned row_unit = 8;
/// Whether so many rows can be absent: a multiple of 8, less than half of all.
bool has_rows(const OracleParameters& parameters);

/// How the chunks of several tensors are packed into an oracle's matrix: largest chunk first, then tensor, then chunk
/// order; a chunk of fewer values than the largest band has rows is padded to that (the padding variables are 0 in all
/// claims). A chunk has whole columns of a band of rows: value i is in row i mod 2^log_rows of the band, and in the
/// chunk's first column + i / 2^log_rows. Parts of divided chunks lie in their chunk one after the other: where values
/// are does not depend on how many ranks share them.
///
/// If all rows are there they are one band, in which chunks follow each other. Else a chunk goes to the first band
/// that has columns for it below ceil(used / rows), or if none has to where it ends first, and this is the bound then.
class OracleLayout {
 public:
  OracleLayout() = default;
  /// A layout for 2^k rows, any k <= 7, all there: chunks are padded to 2^7.
  explicit OracleLayout(std::vector<Shape> tensors, unsigned min_log_size = most_log_rows);
  /// A layout for the rows of `parameters`.
  OracleLayout(std::vector<Shape> tensors, const OracleParameters& parameters);

  [[nodiscard]] const std::vector<Shape>& tensors() const { return tensors_; }
  /// log2 of the values that every chunk has at least, with its padding.
  [[nodiscard]] unsigned min_log_chunk() const { return min_log_chunk_; }
  /// log2 of the size of a tensor's chunks with their padding.
  [[nodiscard]] unsigned log_padded_chunk(std::size_t tensor) const {
    return std::max(tensors_[tensor].inner_bits(), min_log_chunk_);
  }
  /// The band of rows that the chunk lies in: its number, as OracleParameters::band() has it.
  [[nodiscard]] std::size_t band(std::size_t tensor, std::size_t chunk) const {
    return bands_.empty() ? 0 : bands_[tensor][chunk];
  }
  /// The bands that a tensor has chunks in, ascending.
  [[nodiscard]] std::vector<std::size_t> bands(std::size_t tensor) const;
  /// Index of the chunk's first value in its band: rows times column.
  [[nodiscard]] std::size_t offset(std::size_t tensor, std::size_t chunk) const { return offsets_[tensor][chunk]; }
  /// offset() of all chunks.
  [[nodiscard]] std::span<const std::size_t> offsets(std::size_t tensor) const { return offsets_[tensor]; }
  /// log2 of the most columns that a chunk has: all begin at multiples of theirs.
  [[nodiscard]] unsigned log_most_columns(const OracleParameters& parameters) const;
  /// Values, padding of chunks included.
  [[nodiscard]] std::size_t used() const { return used_; }
  /// Columns in use.
  [[nodiscard]] std::size_t columns(const OracleParameters& parameters) const;
  /// log2 of the columns with those that are zero: the next power of two.
  [[nodiscard]] unsigned log_columns(const OracleParameters& parameters) const;
  /// log2 of the roots of unity, on all or some of which the rows are evaluated.
  [[nodiscard]] unsigned log_domain(const OracleParameters& parameters) const {
    return log_columns(parameters) + parameters.log_inverse_rate;
  }
  [[nodiscard]] WordDomain domain(const OracleParameters& parameters) const {
    return {log_domain(parameters), parameters.absent_pieces};
  }
  /// log2 of the size of all columns of 2^k rows, if all are there.
  [[nodiscard]] unsigned log_size() const { return log_size_; }

 private:
  /// Throws std::invalid_argument unless this was packed for such rows.
  void check_rows(const OracleParameters& parameters) const;
  void pack_flat();
  void pack_bands(const OracleParameters& parameters);
  /// Takes where the undivided tensors' chunks begin, and in which bands unless there is one only.
  void place(std::vector<std::vector<std::size_t>> first, std::vector<std::vector<std::uint8_t>> band);

  std::vector<Shape> tensors_;
  std::vector<std::vector<std::size_t>> offsets_;
  std::vector<std::vector<std::uint8_t>> bands_;  // empty: of all chunks it is the only one
  std::uint32_t absent_rows_ = 0;
  unsigned min_log_chunk_ = most_log_rows;
  unsigned log_largest_chunk_ = 0;
  // if rows are absent
  unsigned log_rows_ = 0;
  unsigned log_most_columns_ = 0;
  std::size_t columns_ = 0;
  std::size_t used_ = 0;
  unsigned log_size_ = 0;
};

/// A committed oracle as the verifier knows it.
struct CommittedOracle {
  OracleLayout layout;
  OracleParameters parameters;
  Digest root{};
  std::size_t extra = 0;  // elements of F that follow a column in its leaf (hiding mode)
  unsigned row_work = 0;  // bits of work before each challenge for a row variable, if that is more than it needs
};

/// How many values these tensors' chunks have if each is padded to 2^min_log_chunk.
std::uint64_t packed_size(std::span<const Shape> tensors, unsigned min_log_chunk);

/// An oracle of these tensors with the fewest rows whose columns are padded to as many as those of all 2^log_rows rows:
/// codewords are as long, and as many as the tensors need.
struct PackedOracle {
  OracleLayout layout;
  OracleParameters parameters;
  void move_to(OracleLayout& to_layout, OracleParameters& to_parameters) && {
    to_layout = std::move(layout);
    to_parameters = parameters;
  }
};
PackedOracle pack_oracle(std::vector<Shape> tensors, OracleParameters parameters);

}  // namespace tessera
