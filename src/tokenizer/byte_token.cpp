#include "tokenizer/byte_token.hpp"

#include <algorithm>
#include <charconv>

namespace tessera {

std::optional<std::uint8_t> byte_of_token(std::string_view token) {
  std::uint8_t byte = 0;
  if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') {
    return std::nullopt;
  }
  const std::string_view digits = token.substr(3, 2);
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), byte, 16);
  const bool lower = std::ranges::any_of(digits, [](char c) { return c >= 'a'; });  // the library looks for %02X
  return error == std::errc() && end == digits.end() && !lower ? std::optional(byte) : std::nullopt;
}

}  // namespace tessera
