#pragma once

#include "architecture/inference.hpp"
#include "tokenizer/tokenizer.hpp"

namespace tessera::cli {

/// Token ids of a file of at most 9 digits each, separated by commas.
std::vector<std::uint32_t> ids_of(std::string_view text);
/// Whether a text is meant to be ids: digits and commas alone.
bool is_ids(std::string_view text);

/// What a file says that follows a prompt: ids, or a text, of which those ids are taken that tokenizing prompt and text
/// together gives, or else the text alone. A line end at the end of the file is not part of it. Throws InputError for a
/// file that cannot be read, and for none or more than max_generated tokens.
std::vector<std::uint32_t> read_expected(const std::string& path, const Tokenizer& tokenizer,
                                         std::span<const std::uint32_t> prompt);

/// Where the model goes on otherwise, and how.
std::string difference(const TokenizerData& tokenizer, std::span<const std::uint32_t> expected,
                       const OtherToken& other);

}  // namespace tessera::cli
