#pragma once

#include <cstdint>
#include <vector>

namespace tessera {

/// The public statement: the model's arg-max continuation of `prompt` is `generated`. Token ids of the key's
/// vocabulary.
struct Statement {
  std::vector<std::uint32_t> prompt;
  std::vector<std::uint32_t> generated;
  friend bool operator==(const Statement&, const Statement&) = default;
};

}  // namespace tessera
