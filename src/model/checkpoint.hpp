#pragma once

#include <filesystem>
#include "model/model.hpp"

namespace tessera {

/// Shape and epsilon of config.json, checked field by field.
struct CheckpointConfig {
  ModelShape shape;
  double layer_norm_epsilon = 1e-5;
};

/// Reads a Hugging Face GPT-2 config.json. Accepts pre-LN GPT-2 with gelu_new (tanh form), tied embeddings and scores
/// scaled by 1/sqrt(head size); anything else, and any field not known to leave inference alone, is refused by name.
/// Throws InputError.
CheckpointConfig read_checkpoint_config(const std::filesystem::path& file);

/// Loads a Hugging Face GPT-2 folder: config.json and model.safetensors, else model_f16.safetensors, else the only
/// *.safetensors. Names with or without the prefix `transformer.`; Conv1D weights (in, out) become (out, in), c_attn is
/// cut into q, k, v. Mask buffers and an lm_head.weight equal to wte.weight are ignored. Throws InputError for missing,
/// extra and mis-shaped tensors, NaN and infinity, naming file, tensor and index.
FloatModel load_checkpoint(const std::filesystem::path& folder);

}  // namespace tessera
