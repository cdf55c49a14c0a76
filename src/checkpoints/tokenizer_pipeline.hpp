#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tokenizer/tokenizer_data.hpp"

namespace tessera {

// Sections of a tokenizer.json that say what is done with a text before and after its words become tokens; `what` names
// the section. Throw InputError for what TokenizerData cannot say.

/// Says which model and which split; the others rely on it. Returns whether it makes marks of spaces itself.
bool read_pre_tokenizer(const nlohmann::json& section, const std::string& what, TokenizerData& data);
/// `marks`: spaces are not to become marks here.
void read_normalizer(const nlohmann::json& section, const std::string& what, TokenizerData& data, bool marks);
/// Decoding is the inverse of encoding: nothing of the file decides how it is done.
void check_decoder(const nlohmann::json& section, const std::string& what, const TokenizerData& data);
/// The prefix; the vocabulary has its size.
void read_post_processor(const nlohmann::json& section, const std::string& what, TokenizerData& data);

}  // namespace tessera
