#pragma once

#include "cluster/communicator.hpp"
#include "lookup/fraction_tree.hpp"

namespace tessera {

/// A column's a and b.
struct ColumnValues {
  E a;
  E b;  // zero for range tables
};

/// The multilinear extensions of all columns at the last coordinates of `point`, summed by every rank over the chunks
/// that it works on. Collective.
std::vector<ColumnValues> evaluate_columns(const LookupInput& input, std::span<const E> point, Communicator& comm);

}  // namespace tessera
