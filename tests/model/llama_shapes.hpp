#pragma once

#include <vector>

#include "parameters/shape.hpp"

namespace tessera::test {

/// Small shapes of the Llama family: every flag both ways, groups and heads that are no powers of two.
inline std::vector<ModelShape> llama_shapes() {
  constexpr auto llama = rotary_layers;
  // layers, d, heads, inner, vocabulary, positions; key/value heads, m; tied, biases, norms of heads
  return {{2, 12, 6, 20, 30, 16, llama, 3, 4, true, false, false},
          {2, 20, 4, 28, 40, 24, llama, 2, 6, false, true, false},
          {3, 16, 6, 24, 30, 16, llama, 2, 8, false, false, true}};
}

}  // namespace tessera::test
