#include "model/tensor_naming.hpp"

#include <algorithm>

namespace tessera {

bool is_rotary_buffer(std::string_view tensor) {
  constexpr std::string_view names[] = {"inv_freq", "original_inv_freq", "cos_cached", "sin_cached"};
  return std::ranges::find(names, tensor.substr(tensor.find_last_of('.') + 1)) != std::end(names);
}

TensorNaming folder_naming(const ModelShape& shape) {
  TensorNaming naming;
  naming.prefix = shape.gpt2() ? "transformer." : "";
  naming.block = shape.gpt2() ? "h." : "model.layers.";
  if (shape.gpt2()) {
    naming.block_ignored = {"attn.bias", "attn.masked_bias"};
  }
  return naming;
}

}  // namespace tessera
