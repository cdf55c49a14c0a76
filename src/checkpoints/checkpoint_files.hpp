#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tessera {

enum class CheckpointFormat : std::uint8_t { safetensors, gguf };

/// Which files of a checkpoint are read.
struct CheckpointFiles {
  CheckpointFormat format = CheckpointFormat::safetensors;
  std::filesystem::path weights;   // *.safetensors, the index of several, or *.gguf, of parts the first
  std::filesystem::path folder;    // of the weights: configuration and tokenizer lie there
  std::vector<std::string> notes;  // for a person: what was chosen among several and why, what is ignored
};

/// Recognises a checkpoint: a file is GGUF. Of a folder, sets of weights are model.safetensors,
/// model.safetensors.index.json and other model*.safetensors that are no shards; among several, the one of the widest
/// type of values, of equally wide ones the first in this order; if there are none, the only *.safetensors, else the
/// only *.gguf or the first of its parts. Throws InputError if nothing or no single one is left.
CheckpointFiles find_checkpoint(const std::filesystem::path& path);

}  // namespace tessera
