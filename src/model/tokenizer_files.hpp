#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "tokenizer/tokenizer.hpp"

namespace tessera {

/// Reads vocab.json and merges.txt of a GPT-2 byte-level BPE. Throws InputError naming file, field, expected and found:
/// ids must be 0..V-1, tokens byte symbols, all 256 single bytes and <|endoftext|> present, merges of known tokens into
/// a known token without repetition, everything valid UTF-8.
TokenizerData load_tokenizer(const std::filesystem::path& folder);

/// Reads a tokenizer.json of the kinds that TokenizerData describes, for a model of `vocabulary` ids; ids of no token
/// get an empty entry. The end of text is the eos_token of tokenizer_config.json unless it is given. Read: BPE,
/// byte-level with the split of GPT-2, Llama 3, Qwen 2 or SmolLM and with or without NFC, or SentencePiece's with byte
/// fallback; added tokens, normalized or not; merges as texts or as pairs; a template that puts tokens in front. Throws
/// InputError naming file, field, expected and found for anything else.
TokenizerData load_tokenizer_json(const std::filesystem::path& folder, std::size_t vocabulary,
                                  std::optional<std::uint32_t> end_of_text = {});

/// Throws InputError, `where` in front, unless a Tokenizer can be made of the data.
void require_tokenizer(const TokenizerData& data, const std::string& where);

}  // namespace tessera
