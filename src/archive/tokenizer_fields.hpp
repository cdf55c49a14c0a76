#pragma once

#include "archive/hdf5.hpp"
#include "tokenizer/tokenizer_data.hpp"

namespace tessera {

/// What a tokenizer has beyond vocabulary, merges and end of text, under `group`: ends uint32, where there are more
/// than the end of text; chat_template text, with it the names of chat_token_names (texts) and special (uint32), where
/// they are not empty; and of others than gpt2
///   kind, pre_tokenizer, normalizer texts, ignore_merges uint8, and those of these lists of ids (uint32) that are not
///   empty: byte_tokens, added_tokens, added_normalized, prefix, added_lstrip, added_rstrip.
void write_tokenizer_fields(WriteFile& file, const std::string& group, const TokenizerData& tokenizer);
/// Reads them to a tokenizer of vocabulary, merges and end of text. Throws InputError, also where the whole is not in
/// the limits of keys.
void read_tokenizer_fields(const ReadFile& file, const std::string& group, TokenizerData& tokenizer);

}  // namespace tessera
