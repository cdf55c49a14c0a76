#pragma once

#include "opening/schedule.hpp"
#include "transcript/verifier.hpp"

namespace tessera {

/// Columns of one word at its positions.
struct OpenedColumns {
  std::vector<std::size_t> positions;
  std::vector<F> values;  ///< leaf after leaf
};

/// Receives and authenticates the columns at `positions` (as drawn).
///   | 1 | P | columns:  leaf_values() elements of F for each distinct position, ascending |
///   | 2 | P | siblings: the multi-proof                                                   |
OpenedColumns receive_columns(VerifierView<E>& transcript, const CommittedWord& word, const Digest& root,
                              std::vector<std::size_t> drawn);

/// sum_lo beta(point, lo) * column[lo] for every opened column; weights = eq_table(point).
std::vector<E> bind_columns(const CommittedWord& word, const OpenedColumns& opened, std::span<const E> weights);

/// The evaluation points of the opened columns.
std::vector<F> evaluation_points(const CommittedWord& word, const OpenedColumns& opened);

}  // namespace tessera
