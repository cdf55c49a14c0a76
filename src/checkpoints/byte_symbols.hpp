#pragma once

#include <string>
#include <string_view>

#include "tokenizer/byte_token.hpp"

namespace tessera {

/// Bytes behind a token that is written in GPT-2's byte symbols. Empty if it is, has a character outside the alphabet
/// or is not UTF-8.
std::string bytes_of_symbols(std::string_view symbols);

}  // namespace tessera
