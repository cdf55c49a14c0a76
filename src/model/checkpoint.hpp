#pragma once

#include <filesystem>
#include <optional>
#include "model/checkpoint_files.hpp"
#include "model/model.hpp"

namespace tessera {

/// What config.json says, checked field by field.
struct CheckpointConfig {
  ModelShape shape;
  double layer_norm_epsilon = 1e-5;
  Rope rope;                        // Llama family
  std::string activation = "gelu";  // of the MLP: gelu (tanh form), silu
};

/// Reads a Hugging Face config.json. model_type gpt2: pre-LN GPT-2 with gelu_new (tanh form), tied embeddings and
/// scores scaled by 1/sqrt(head size). llama, mistral, qwen2, qwen3: RMS norms, rotary positions (plain, linear or
/// llama3), grouped heads, gated MLP, biases on q, k, v (qwen2) or norms on q, k (qwen3); their context is `context`,
/// up to max_position_embeddings, by default no more than 2048; a sliding window must not be shorter. Anything else,
/// and any field not known to leave inference alone, is refused by name. Throws InputError.
CheckpointConfig read_checkpoint_config(const std::filesystem::path& file, std::optional<std::size_t> context = {});

/// Loads a folder's config.json and safetensors, or a GGUF file, whose quantized tensors are dequantized as the format
/// defines it. GPT-2: names with or without the prefix `transformer.`; Conv1D weights (in, out) become (out, in),
/// c_attn is cut into q, k, v. Mask buffers, rotary frequencies and, in tied models, a head equal to the embedding are
/// ignored. Throws InputError for missing, extra and mis-shaped tensors, NaN and infinity, naming file, tensor and
/// index.
FloatModel load_checkpoint(const CheckpointFiles& files, std::optional<std::size_t> context = {});
/// Loads the checkpoint of find_checkpoint(path).
FloatModel load_checkpoint(const std::filesystem::path& path, std::optional<std::size_t> context = {});

}  // namespace tessera
