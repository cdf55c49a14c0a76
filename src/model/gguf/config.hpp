#pragma once

#include <optional>

#include "model/checkpoint.hpp"
#include "model/gguf/file.hpp"
#include "model/tensor_naming.hpp"

namespace tessera {

/// What the metadata of a GGUF file says of the model: architectures gpt2, llama (Mistral's files, too), qwen2 and
/// qwen3, what read_checkpoint_config() takes of them. The head is tied where there is no tensor output.weight. Llama
/// 3's scaling of rotary positions is recognised by the factors in rope_freqs.weight. Keys general.*, split.* and those
/// that begin with the architecture are taken one by one, and those not known to leave inference alone are refused by
/// name, as any value not supported; keys beginning with anything else are no part of the model. Throws InputError.
CheckpointConfig read_gguf_config(const GgufFile& file, std::optional<std::size_t> context = {});

/// Names and layout of its tensors. Architecture llama has the rows of q's and k's heads interleaved.
TensorNaming gguf_naming(const GgufFile& file);

/// general.architecture, a text.
std::string gguf_architecture(const GgufFile& file);

}  // namespace tessera
