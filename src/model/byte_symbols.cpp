#include "model/byte_symbols.hpp"

#include <array>
#include <cstdint>

namespace tessera {
namespace {

constexpr std::uint32_t code_points = 256 + 68;

/// Code point -> byte, -1 where there is none.
std::array<int, code_points> make_bytes() {
  std::array<int, code_points> bytes{};
  bytes.fill(-1);
  std::size_t next = 256;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    bytes[printable ? byte : next++] = static_cast<int>(byte);
  }
  return bytes;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto continues = [&](std::size_t i) { return (at(i) & 0xC0U) == 0x80U; };
  const unsigned first = at(0);
  if (text.empty()) {
    return 0;
  }
  if (first < 0x80) {
    return 1;
  }
  if (first >= 0xC2 && first <= 0xDF) {
    return continues(1) ? 2 : 0;
  }
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && at(1) < 0xA0;
    const bool surrogate = first == 0xED && at(1) > 0x9F;
    return continues(1) && continues(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && at(1) < 0x90;
    const bool beyond = first == 0xF4 && at(1) > 0x8F;
    return continues(1) && continues(2) && continues(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

std::optional<std::string> bytes_of_symbols(std::string_view symbols) {
  static const std::array<int, code_points> bytes = make_bytes();
  std::string result;
  while (!symbols.empty()) {
    const std::size_t length = utf8_length(symbols);
    if (length == 0 || length > 2) {
      return std::nullopt;
    }
    const auto first = static_cast<unsigned char>(symbols[0]);
    const std::uint32_t code =
        length == 1 ? first : (first & 31U) << 6U | (static_cast<unsigned char>(symbols[1]) & 63U);
    if (code >= code_points || bytes[code] < 0) {
      return std::nullopt;
    }
    result.push_back(static_cast<char>(bytes[code]));
    symbols.remove_prefix(length);
  }
  return result;
}

}  // namespace tessera
