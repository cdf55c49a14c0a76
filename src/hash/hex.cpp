#include "hash/hex.hpp"

#include <string_view>

#include "base/text.hpp"

namespace tessera {

std::string to_hex(std::span<const std::uint8_t> bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::string check_digest(std::string& text) {
  constexpr std::string_view digits = "0123456789abcdefABCDEF";
  if (text.size() != 2 * sizeof(Digest) || text.find_first_not_of(digits) != std::string::npos) {
    return "expected 64 hexadecimal digits, found " + quoted_name(text);
  }
  for (char& digit : text) {
    digit = digit >= 'A' && digit <= 'F' ? static_cast<char>(digit - 'A' + 'a') : digit;
  }
  return "";
}

Digest digest_in(const std::string& digits) {
  Digest digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(std::stoul(digits.substr(2 * i, 2), nullptr, 16));
  }
  return digest;
}

}  // namespace tessera
