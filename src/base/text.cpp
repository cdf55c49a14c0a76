#include "base/text.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace tessera {
namespace {

constexpr char32_t blank_braille = 0x2800;

bool is_mark(int category) { return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME; }

/// Nothing of it shows, or it changes how its neighbours show.
bool is_hidden(char32_t code) {
  const utf8proc_property_t* const property = utf8proc_get_property(static_cast<utf8proc_int32_t>(code));
  switch (property->category) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return true;
    case UTF8PROC_CATEGORY_ZS:
      return code != ' ';
    default:
      return property->ignorable || code == blank_braille;
  }
}

template <class... Arguments>
std::string formatted(const char* format, Arguments... arguments) {
  std::array<char, 16> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, arguments...);
  return buffer.data();
}

std::string escape(std::string_view text, bool quotes, std::size_t most) {
  std::string result;
  bool shown = false;  // a mark after something that is not a character of the text would join what is not the text's
  while (!text.empty()) {
    const Character next = first_character(text);
    const std::size_t length = std::max<std::size_t>(next.length, 1);
    std::string piece(text.substr(0, length));
    const bool joins = !shown && is_mark(utf8proc_category(static_cast<utf8proc_int32_t>(next.code)));
    shown = false;
    if (next.length == 0) {
      piece = formatted("\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(text.front())));
    } else if (next.code == '\n') {
      piece = "\\n";
    } else if (is_hidden(next.code) || joins) {
      piece = formatted("\\u{%x}", static_cast<unsigned>(next.code));
    } else if (quotes && (next.code == '\\' || next.code == '"')) {
      piece.insert(0, 1, '\\');
    } else {
      shown = true;
    }
    if (result.size() + piece.size() > most) {
      return result + "...";
    }
    result += piece;
    text.remove_prefix(length);
  }
  return result;
}

}  // namespace

Character first_character(std::string_view text) {
  utf8proc_int32_t code = 0;
  const utf8proc_ssize_t length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                                   static_cast<utf8proc_ssize_t>(text.size()), &code);
  return length <= 0 ? Character{} : Character{static_cast<char32_t>(code), static_cast<std::size_t>(length)};
}

CharacterKind kind_of(char32_t code) {
  const int category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) {
    return CharacterKind::letter;
  }
  if (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO) {
    return CharacterKind::number;
  }
  // White_Space: the separators and six controls
  const bool control = (code >= 0x09 && code <= 0x0D) || code == 0x85;
  const bool space = category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP;
  return control || space ? CharacterKind::space : CharacterKind::other;
}

std::string printable(std::string_view text, std::size_t most) { return escape(text, true, most); }

std::string quoted_name(std::string_view name) { return '"' + printable(name, 80) + '"'; }

std::string one_line(std::string_view message, std::size_t most) { return escape(message, false, most); }

}  // namespace tessera
