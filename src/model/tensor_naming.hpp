#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parameters/table.hpp"

namespace tessera {

/// How a kind of checkpoint names and lays out what CheckpointPlace calls by the names of a Hugging Face folder.
struct TensorNaming {
  std::string prefix;                                      // may be left out
  std::string block;                                       // comes before the number of a block
  std::vector<std::string> ignored = {};                   // tensors that inference does not read
  std::vector<std::string> block_ignored = {};             // the same of a block, behind its number
  std::string (*name)(std::string_view tensor) = nullptr;  // of a tensor in CheckpointPlace; none: the same
  bool transposed = true;                                  // where CheckpointPlace says so
  bool interleaved = false;  // rows of heads of wq and wk: (place, half), not (half, place)

  [[nodiscard]] std::string of(std::string_view tensor) const {
    return name == nullptr ? std::string(tensor) : name(tensor);
  }
  [[nodiscard]] std::string of(std::size_t number, std::string_view tensor) const {
    return block + std::to_string(number) + "." + of(tensor);
  }
};

/// Tables of rotary positions that versions of the format store at several places: the configuration says them.
bool is_rotary_buffer(std::string_view tensor);

/// Names of tensors in folders of safetensors. Buffers that older versions of the format store are ignored.
TensorNaming folder_naming(const ModelShape& shape);

}  // namespace tessera
