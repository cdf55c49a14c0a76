#pragma once

#include <optional>

#include "checkpoints/families/family.hpp"
#include "checkpoints/gguf/file.hpp"

namespace tessera {

/// What the metadata of a GGUF file says of the model, and where its tensors are: architectures gpt2, llama (Mistral's
/// files, too), qwen2, qwen3, smollm3, granite, olmo2, phi2, phi3, gptneox, starcoder2, stablelm, gemma, gemma2 and
/// gemma3. The head is tied where there is no tensor output.weight. Llama 3's scaling of rotary positions is recognised
/// by the factors in rope_freqs.weight. Keys general.*, split.* and those that begin with the architecture are taken
/// one by one, and those not known to leave inference alone are refused by name, as any value not supported; keys
/// beginning with anything else are no part of the model. Throws InputError.
FamilyModel read_gguf_family(const GgufFile& file, std::optional<std::size_t> context = {});
CheckpointConfig read_gguf_config(const GgufFile& file, std::optional<std::size_t> context = {});

/// general.architecture, a text.
std::string gguf_architecture(const GgufFile& file);

}  // namespace tessera
