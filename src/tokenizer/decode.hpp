#pragma once

#include "tokenizer/tokenizer.hpp"

namespace tessera {

/// Bytes of the tokens, of any vocabulary: also one that no Tokenizer takes. Where encode() puts a space before a text,
/// one at the beginning is left out. Throws InputError naming an id outside the vocabulary.
std::string decode(const TokenizerData& data, std::span<const std::uint32_t> ids);

}  // namespace tessera
