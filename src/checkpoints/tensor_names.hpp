#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "parameters/table.hpp"

namespace tessera {

/// The rows of a stored tensor that a parameter is made of.
struct TensorPlace {
  std::string tensor;                   // behind the number of its block, if the parameter is of blocks
  bool transposed = false;              // stored as (in, out)
  std::vector<ParameterId> fused = {};  // parameters that stand one behind the other in it; empty: this one alone
  bool by_head = false;                 // of those that are fused, the rows of each head one behind the other
  std::size_t skipped = 0;              // rows before them
  bool less_one = false;                // what is stored is the value less 1
};

/// How a checkpoint names and lays out its tensors.
struct TensorNames {
  std::string prefix = {};  // may be left out
  std::string block = {};   // comes before the number of a block
  std::map<ParameterId, TensorPlace> places = {};
  std::string tied_head = {};                   // where a tied head may be stored again
  std::vector<std::string> ignored = {};        // tensors that inference does not read
  std::vector<std::string> block_ignored = {};  // of a block, behind its number
  bool interleaved = false;                     // rows of heads of queries and keys: (place, half), not (half, place)
  std::size_t turned = 0;                       // places of a head that its positions turn, the first ones; 0: all

  /// The name of the tensor that a parameter lies in; `number`: of its block, if it is of blocks.
  [[nodiscard]] std::string of(const ParameterRow& row, std::size_t number) const {
    const std::string& tensor = places.at(row.id).tensor;
    return row.per_block ? block + std::to_string(number) + "." + tensor : tensor;
  }
};

/// Tables of rotary positions that versions of the format store at several places: the configuration says them.
bool is_rotary_buffer(std::string_view tensor);

/// Copies of a tensor's values where a head's places are in the order of the integer transformer: pairs (i, i + m/2)
/// are turned together, those that are turned first. `rows`: whole heads.
void order_places(const TensorNames& names, std::span<float> rows, std::size_t head_size, std::size_t columns);

}  // namespace tessera
