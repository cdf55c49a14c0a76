#pragma once

#include <functional>
#include "words/residue_shares.hpp"
#include "words/oracle.hpp"
#include "field/ntt.hpp"
#include "hash/merkle_tree.hpp"

/// \file
/// An oracle is encoded a group of rows at a time, every rank at its own positions, so that nobody holds a codeword
/// that is not wanted: a group of 2^r rows takes 2^r/2^log_rows of a rank's part of the codeword.

namespace tessera {

/// What becomes of encoded rows. `classes`: of this rank's positions, encoded together.
struct RowSink {
  /// The next rows at the positions of these classes, ascending, a multiple of 8 of them (all if there are fewer):
  /// values[place * rows.size() + row], place counted from the first of these classes on; may be overwritten once they
  /// are the last rows.
  std::function<void(Range classes, Range rows, std::span<F> values)> rows;
  /// If it is set, values may go here instead while they are in a cache, those of all rows in the same way: slot i is
  /// the class's i-th position. By many threads, in no order. `number`: counted from the first of these classes on.
  std::function<void(std::size_t number, const ValueBlock& block)> block;
  std::function<void(Range classes, Range rows)> before_blocks;
  std::function<void(Range classes, Range rows, std::span<F> scratch)> after_blocks;  // scratch: may be overwritten
};

/// Encodes all rows at this rank's positions of the domain, lists that have a sink each. A rank that is alone goes from
/// class to class when all rows are done, others encode all classes of all lists together. `tensors`: views of what
/// this rank holds, in layout order. Ranks exchange the tensors' integers, no value of the codeword. Collective.
void encode_cosets(const OracleLayout& layout, const OracleParameters& parameters,
                   std::span<const IntegerTensor> tensors, std::span<const ResidueShares> shares, Communicator& comm,
                   std::span<const RowSink> sinks);

/// Encodes all rows at this rank's neighbouring `columns` of the codeword, for `visit`: values[column * rows.size() +
/// row]. The ranks' columns cover the codeword in rank order. Collective; every value moves once.
void encode_rows(const OracleLayout& layout, const OracleParameters& parameters, std::span<const IntegerTensor> tensors,
                 Range columns, Communicator& comm,
                 const std::function<void(Range rows, std::span<const F> values)>& visit);

/// Digests of this rank's positions to the ranks that hold neighbouring columns: those of `columns`, this rank's, which
/// cover the codeword in rank order. Collective.
TreeLevel to_columns(const ResidueShares& positions, const TreeLevel& digests, Range columns, Communicator& comm);

/// Every rank's values added, everywhere. Collective.
std::vector<F> sum_over_ranks(std::span<const F> values, Communicator& comm);

/// The codeword's columns at few positions, concatenated, the same on every rank: a fraction of the work of encoding.
/// Collective.
std::vector<F> columns_at(const OracleLayout& layout, const OracleParameters& parameters,
                          std::span<const IntegerTensor> tensors, std::span<const std::size_t> positions,
                          Communicator& comm);

}  // namespace tessera
