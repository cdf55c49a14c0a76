#pragma once

#include <filesystem>

#include "tokenizer/tokenizer.hpp"

namespace tessera {

/// Reads vocab.json and merges.txt of a GPT-2 byte-level BPE. Throws InputError naming file, field, expected and found:
/// ids must be 0..V-1, tokens byte symbols, all 256 single bytes and <|endoftext|> present, merges of known tokens into
/// a known token without repetition, everything valid UTF-8.
TokenizerData load_tokenizer(const std::filesystem::path& folder);

}  // namespace tessera
