#pragma once

#include "tokenizer/tokenizer.hpp"

namespace tessera {

/// Bytes of the tokens, of any vocabulary: also one that no Tokenizer takes. Throws InputError naming an id outside it.
std::string decode(const TokenizerData& data, std::span<const std::uint32_t> ids);

}  // namespace tessera
