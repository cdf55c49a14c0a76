#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "hash/blake2s.hpp"
#include "tokenizer/tokenizer_data.hpp"

namespace tessera {

/// Throws InputError naming the field, `prefix` in front, unless there is no template and nothing of what it needs, or
/// one of 1 to 2^17 bytes with tokens of up to 128 bytes, all UTF-8, and ascending special ids, each an added token (of
/// gpt2: the end of text).
void check_chat(const TokenizerData& tokenizer, const std::string& prefix);

/// BLAKE2s-256 of the template's text.
Digest digest_of(const ChatTemplate& chat);

/// The beginning of a template, to be shown: up to five lines and 400 bytes, whole characters.
std::string_view first_lines(std::string_view text);

/// "bos_token <s>, eos_token </s>": the texts that the template is given by name.
std::string named_tokens_text(const ChatTemplate& chat);
/// "<s> (1), </s> (2)", the tokens that no content can imitate, with their ids; of many the first ones and how many
/// more.
std::string special_tokens_text(const TokenizerData& tokenizer);

/// Whether it is an added token, which stands for no content (of gpt2: the end of text).
bool is_added(const TokenizerData& tokenizer, std::uint32_t id);

}  // namespace tessera
