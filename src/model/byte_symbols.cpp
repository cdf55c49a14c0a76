#include "model/byte_symbols.hpp"

#include <array>
#include <cstdint>

#include "base/text.hpp"

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

std::optional<std::string> bytes_of_symbols(std::string_view symbols) {
  static const std::array<int, code_points> bytes = make_bytes();
  std::string result;
  while (!symbols.empty()) {
    const auto [code, length] = first_character(symbols);
    if (length == 0 || code >= code_points || bytes[code] < 0) {
      return std::nullopt;
    }
    result.push_back(static_cast<char>(bytes[code]));
    symbols.remove_prefix(length);
  }
  return result;
}

}  // namespace tessera
