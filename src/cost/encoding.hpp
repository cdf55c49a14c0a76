#pragma once

#include "cost/parts.hpp"

namespace tessera {

/// Adds bytes that all ranks gather in memory which a node's ranks share.
void gather_shared(const Parts& parts, double bytes, PhaseCost& phase);

/// Adds bytes that all ranks gather a little at a time: ranks of a node read them in its memory, one of them gets those
/// of other nodes.
void gather_short(const Parts& parts, double bytes, PhaseCost& phase);

/// Classes of positions of the rank that has most.
double classes_of(const Parts& parts);

/// What encoding an oracle takes of a rank.
struct Encoding {
  double kept = 0;     // bytes: leaves, tree, columns
  double buffers = 0;  // and meanwhile
};

/// What encoding this oracle takes of a rank; its work, calls and bytes are added to the phase.
Encoding encoding_of(const Parts& parts, const OracleLayout& layout, const OracleParameters& oracle, PhaseCost& phase);

}  // namespace tessera
