#include "model/tensor_naming.hpp"

namespace tessera {

TensorNaming folder_naming(const ModelShape& shape) {
  TensorNaming naming;
  naming.prefix = shape.gpt2() ? "transformer." : "";
  naming.block = shape.gpt2() ? "h." : "model.layers.";
  naming.block_ignored = shape.gpt2() ? std::vector<std::string>{"attn.bias", "attn.masked_bias"}
                                      : std::vector<std::string>{"self_attn.rotary_emb.inv_freq"};
  return naming;
}

}  // namespace tessera
