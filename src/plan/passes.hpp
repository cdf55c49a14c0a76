#pragma once

#include <cstddef>

#include "tensor/shape.hpp"

namespace tessera {

struct PassShape;  // plan/plan.hpp

/// How the rows of a statement and the keys that they see are cut into chunks, of which there are as many as it needs.
/// Filler stands in the last chunk only (src/spec/protocol.md, Passes).
struct Passes {
  Dimension rows;     // T
  Dimension queries;  // Q: the rows in tiles of the scores, each in one chunk of T
  Dimension keys;     // K: those before the first row, then the rows; of a beginning as T
  static Passes of(const PassShape& pass);
};

}  // namespace tessera
