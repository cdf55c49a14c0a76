#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

struct ModelPlan;

/// How one dimension is distributed, and which tensors by it: rank r has the entries first[r] .. first[r + 1] - 1.
struct OwnedDimension {
  std::string name;     // with its symbol of src/spec/protocol.md, section 2
  std::string tensors;  // names, separated by spaces
  std::uint64_t length = 0;
  std::uint64_t chunk = 1;  // entries that are on one rank
  std::vector<std::uint64_t> first;
  friend bool operator==(const OwnedDimension&, const OwnedDimension&) = default;
};

/// Who owns what of parameters, activations and the witness codeword in a job of `ranks`. Tensors that every rank has
/// are not in it.
std::vector<OwnedDimension> ownership_of(const ModelPlan& plan, int ranks);

}  // namespace tessera
