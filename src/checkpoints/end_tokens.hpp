#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tokenizer/tokenizer_data.hpp"

namespace tessera {

/// Tokens after which the model of a folder says no more: eos_token_id, an id or a list, of generation_config.json or,
/// where that has none, of config.json; none where neither has one. Throws InputError naming the file for what is no id
/// below `vocabulary`.
std::vector<std::uint32_t> folder_ends(const std::filesystem::path& folder, std::size_t vocabulary);

/// Makes these and the end of text the ends of a tokenizer; no list where the end of text is the only one. Throws
/// InputError, `where` in front, for more than keys may have.
void take_ends(TokenizerData& data, std::vector<std::uint32_t> ids, const std::string& where);

}  // namespace tessera
