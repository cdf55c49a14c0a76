#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tessera {

/// Bytes behind a token that is written in GPT-2's byte symbols. Empty if it is, has a character outside the alphabet
/// or is not UTF-8.
std::string bytes_of_symbols(std::string_view symbols);

/// The byte of a SentencePiece token <0xNN>, in capital digits.
std::optional<std::uint8_t> byte_of_token(std::string_view token);

}  // namespace tessera
