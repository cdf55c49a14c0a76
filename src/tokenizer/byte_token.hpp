#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tessera {

/// The byte of a SentencePiece token <0xNN>, in capital digits.
std::optional<std::uint8_t> byte_of_token(std::string_view token);

}  // namespace tessera
