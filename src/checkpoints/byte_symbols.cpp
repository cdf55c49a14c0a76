#include "checkpoints/byte_symbols.hpp"

#include <map>

#include "base/text.hpp"

namespace tessera {
namespace {

/// The byte behind each code point of a token: GPT-2 writes bytes 33..126, 161..172, 174..255 as the code points of the
/// same number and the other 68, in ascending order, as code points 256, 257, ...
std::map<char32_t, char> make_alphabet() {
  std::map<char32_t, char> bytes;
  char32_t next = 256;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    bytes[printable ? byte : next++] = static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace

std::string bytes_of_symbols(std::string_view symbols) {
  static const std::map<char32_t, char> alphabet = make_alphabet();
  std::string bytes;
  while (!symbols.empty()) {
    const auto [code, length] = first_character(symbols);
    const auto found = alphabet.find(code);
    if (length == 0 || found == alphabet.end()) {
      return {};
    }
    bytes.push_back(found->second);
    symbols.remove_prefix(length);
  }
  return bytes;
}

}  // namespace tessera
