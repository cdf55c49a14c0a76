#pragma once

#include <cstdint>
#include <span>
#include "words/oracle.hpp"
#include <vector>

namespace tessera {

/// Elements of F in each leaf of a hiding proof's last vector that mask the vector in clear.
inline constexpr std::size_t clear_mask_elements = 2;

/// One committed word of the opening: an interleaved Reed-Solomon code of `columns` coefficients a row, evaluated on
/// the points of domain(); `positions` of its columns are opened.
struct CommittedWord {
  unsigned log_rows = 0;            ///< variables that number its rows
  std::size_t absent = 0;           ///< the last ones of 2^log_rows rows, in no leaf
  std::uint32_t absent_pieces = 0;  ///< of the domain
  unsigned log_columns = 0;         ///< of the table that is encoded, which is zero from column `columns` on
  unsigned log_inverse_rate = 0;    ///< of that table
  std::uint64_t columns = 0;        ///< the code's dimension
  unsigned rate = 0;  ///< columns / domain().points() in units of 1/rate_unit, rounded up (see schedule.cpp)
  std::size_t positions = 0;
  bool extension = false;    ///< entries in E (c0, c1 side by side in a leaf) instead of F
  std::size_t extra = 0;     ///< elements of F that follow the column in its leaf (hiding mode)
  std::uint64_t offset = 0;  ///< first index of the bound word (`columns` values) in the vector v of its round
  std::uint64_t fresh = 0;   ///< of a hiding proof's vectors: columns from here on are masks, then random

  [[nodiscard]] unsigned log_domain() const { return log_columns + log_inverse_rate; }
  [[nodiscard]] WordDomain domain() const { return {log_domain(), absent_pieces}; }
  /// -log2 of the chance that all positions miss.
  [[nodiscard]] double bits() const;
  [[nodiscard]] std::size_t rows() const { return (std::size_t{1} << log_rows) - absent; }
  /// Elements of F in a Merkle leaf.
  [[nodiscard]] std::size_t leaf_values() const { return (extension ? 2 : 1) * rows() + extra; }
};

/// Every number of the opening protocol that is not in the oracles' parameters: a pure function of those.
///
/// Word lists by round: round 0 opens the oracles, round i >= 1 opens vectors[i-1]. Round i's messages bind v_i, which
/// is committed as vectors[i], or sent in clear in the last round. (See opening.hpp for the protocol.)
struct OpeningSchedule {
  static constexpr unsigned folding = 4;            ///< variables bound in each round after the first
  static constexpr std::size_t max_clear = 2560;    ///< values sent in clear: another word would take more bytes
  static constexpr unsigned default_grinding = 16;  ///< bits of work before the positions of each round
  static constexpr unsigned most_row_work = 6;      ///< bits: parameters and witness are too large beyond
  /// Columns of a hiding proof's vectors that mask the rounds over their rows.
  static constexpr std::size_t round_masks = 1 + 2 * folding;

  unsigned grinding_bits = default_grinding;
  bool hiding = false;          ///< leaves of the oracles have more than the column
  unsigned least_row_work = 0;  ///< bits: what is asked for, CommittedOracle::row_work
  unsigned row_variables = 0;   ///< max k_j
  std::vector<CommittedWord> oracles;
  std::uint64_t vector_size = 0;  ///< v_0 is zero from here on, but for columns of a hiding proof's
  unsigned log_vector = 0;        ///< m: v_0 has 2^m values
  std::vector<CommittedWord> vectors;
  unsigned log_clear = 0;        ///< variables of the vector that is sent in clear
  std::uint64_t clear_size = 0;  ///< which is zero from here on: values that are sent

  [[nodiscard]] std::span<const CommittedWord> opened_in_round(std::size_t round) const;
  /// Entries of what vectors[round] encodes, of what is sent in clear after the last one: it is zero from there on.
  [[nodiscard]] std::uint64_t table_size(std::size_t round) const;

  // Row variables that are bound before round `round`'s words are opened: the oracles' of round 0, then of
  // vectors[round - 1].
  /// How many challenges bind them.
  [[nodiscard]] unsigned row_challenges(std::size_t round) const { return round == 0 ? row_variables : folding; }
  /// What each challenge may let through, in units of 1/|E|: roots of the round polynomial, and points of the domains.
  [[nodiscard]] std::uint64_t row_error(std::size_t round) const;
  /// Bits of work before each: as many as all of them together need for required_soundness_bits, none where they need
  /// more than most_row_work; or least_row_work, if that is more.
  [[nodiscard]] unsigned row_work(std::size_t round) const;
};

inline constexpr std::size_t folded_rows = std::size_t{1} << OpeningSchedule::folding;  ///< of v_0 and all after it

/// Positions are counted for rates that are multiples of 1/rate_unit: few numbers, none of which hangs on the last bit
/// of somebody's logarithm.
inline constexpr unsigned rate_unit = 1024;

/// -log2 of the chance that one position misses a difference in more than (1 - rate)/2 of the columns: (1 + rate)/2.
double position_bits(unsigned rate);

/// Positions needed so that ((1 + rate) / 2)^positions * 2^-grinding_bits <= 2^-100.
std::size_t positions_for(unsigned rate, unsigned grinding_bits);

/// Throws std::invalid_argument for parameters outside 4 <= log_rows <= 7 (3 if leaves have more than the column),
/// absent rows that are no multiple of 16 or half of all, 1 <= log_inverse_rate, log_domain <= 32, of the vectors as
/// well, half of the pieces absent or some of a domain below 2^12. Sizes have 64 bits wherever the verifier runs.
OpeningSchedule opening_schedule(std::span<const CommittedOracle> oracles,
                                 unsigned grinding_bits = OpeningSchedule::default_grinding);

}  // namespace tessera
