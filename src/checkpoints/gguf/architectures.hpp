#pragma once

#include <span>
#include <string_view>

#include "checkpoints/trained_model.hpp"
#include "checkpoints/tensor_names.hpp"

namespace tessera {

/// What an architecture's files do not say.
struct GgufArchitecture {
  std::string_view name;
  Layers layers = rotary_layers;
  bool qkv_bias = false, head_norm = false, across_heads = false, head_bias = false;
  ActivationKind activation = ActivationKind::silu;
  bool interleaved = false;  // rows of heads of queries and keys: (place, half)
  bool fused_qkv = false, fused_gate = false;
  std::size_t unbounded = 0;  // every n-th block sees everything where others have a window; 0: none does
  bool local_angles = false;  // blocks with a window turn by angles of their own
};

/// Architectures of GGUF files with rotary positions that are read: all but gpt2.
std::span<const GgufArchitecture> gguf_architectures();

/// Names of the layers' tensors that all architectures share.
TensorNames gguf_names(const ModelShape& shape);
/// Queries, keys and values in one tensor.
void fuse_qkv(TensorNames& names);

}  // namespace tessera
