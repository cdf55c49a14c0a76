#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "plan/shape.hpp"
#include "tokenizer/tokenizer.hpp"

namespace tessera {

/// Reads the tokenizer of a folder for a model of shape.n_vocab ids as transformers does (read_tokenizer_folder); ids
/// of no token get an empty entry, added tokens beyond them are left out. The end of text, unless it is given, is
/// eos_token of tokenizer_config.json or special_tokens_map.json, else eos_token_id of config.json, else that of the
/// class of tokenizers; folder_ends() says what else ends it. Read: BPE, byte-level with the split of GPT-2, Llama 3,
/// Qwen 2 or SmolLM and with NFC, NFKC or neither, or SentencePiece's with byte fallback; added tokens, normalized or
/// not, with white space beside them or not; merges as texts or as pairs; a template that puts tokens in front. Where a
/// GPT-2 model's tokenizer says no more than vocab.json and merges.txt with their end of text, it is
/// TokenizerModel::gpt2. `notes` gets lines for people: what is left out, and which file is taken. Throws InputError
/// naming file, field, expected and found for anything else.
TokenizerData load_tokenizer(const std::filesystem::path& folder, const ModelShape& shape,
                             std::optional<std::uint32_t> end_of_text = {}, std::vector<std::string>* notes = nullptr);

/// Throws InputError, `where` in front, unless a Tokenizer can be made of the data.
void require_tokenizer(const TokenizerData& data, const std::string& where);

}  // namespace tessera
