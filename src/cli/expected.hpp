#pragma once

#include "architecture/inference.hpp"
#include "tokenizer/tokenizer.hpp"

namespace tessera::cli {

/// What a file says that follows a prompt: a text, of which those ids are taken that tokenizing prompt and text
/// together gives, or else the text alone; `as_ids`: ids separated by commas. A line end at the end of the file is not
/// part of it. Throws InputError for a file that cannot be read, and for none or more than max_generated tokens.
std::vector<std::uint32_t> read_expected(const std::string& path, bool as_ids, const Tokenizer& tokenizer,
                                         std::span<const std::uint32_t> prompt);

/// Says where the model goes on otherwise than expected, and how; `as_ids`: as ids, not as text.
std::string difference(const TokenizerData& tokenizer, std::span<const std::uint32_t> expected, bool as_ids,
                       const OtherToken& other);

}  // namespace tessera::cli
