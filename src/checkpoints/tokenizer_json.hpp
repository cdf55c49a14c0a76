#pragma once

#include "checkpoints/tokenizer_folder.hpp"
#include "tokenizer/tokenizer_data.hpp"

namespace tessera {

/// What a tokenizer.json says for a model of `vocabulary` ids, but for the end of text. `notes` gets lines for people.
/// Throws InputError naming file, field, expected and found for what TokenizerData cannot say.
TokenizerData read_tokenizer_json(const TokenizerFolder& folder, std::size_t vocabulary,
                                  std::vector<std::string>& notes);

/// The id of an ordinary or an added token of one that has been read.
std::optional<std::uint32_t> find_token(const nlohmann::json& root, const std::string& token);

}  // namespace tessera
