#pragma once

#include <functional>
#include "cluster/communicator.hpp"
#include "commitment/oracle.hpp"

/// \file
/// An oracle is encoded a group of rows at a time, every rank its own group, so that nobody holds a codeword that is
/// not wanted: a group of 2^r rows takes 2^r/2^log_rows of the codeword's memory.

namespace tessera {

/// Encodes all rows. visit(rows, values): the next rows, ascending, a multiple of 8 of them, of this rank's `columns`:
/// values[column * rows.size() + row]. `tensors`: views of what this rank holds, in layout order. Collective; the
/// ranks' columns cover the codeword in rank order.
void encode_rows(const OracleLayout& layout, const OracleParameters& parameters, std::span<const IntegerTensor> tensors,
                 Range columns, Communicator& comm,
                 const std::function<void(Range rows, std::span<const F> values)>& visit);

/// The codeword's columns at few positions, concatenated, the same on every rank: a fraction of the work of encoding.
/// Collective.
std::vector<F> columns_at(const OracleLayout& layout, const OracleParameters& parameters,
                          std::span<const IntegerTensor> tensors, std::span<const std::size_t> positions,
                          Communicator& comm);

}  // namespace tessera
