#pragma once

#include <cstddef>
#include <string>

#include "tokenizer/tokenizer_data.hpp"

namespace tessera {

/// Throws InputError naming the field, `prefix` in front, unless there is no template and nothing of what it needs, or
/// one of 1 to 2^17 bytes with tokens of up to 128 bytes, all UTF-8, and ascending special ids, each an added token (of
/// gpt2: the end of text).
void check_chat(const TokenizerData& tokenizer, const std::string& prefix);

/// Whether it is an added token, which stands for no content (of gpt2: the end of text).
bool is_added(const TokenizerData& tokenizer, std::uint32_t id);

}  // namespace tessera
