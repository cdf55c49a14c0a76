#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tessera {

/// A character of UTF-8 text; length 0 bytes where none is well-formed.
struct Character {
  char32_t code = 0;
  std::size_t length = 0;
};

/// The character at the beginning of `text`. Surrogates, overlong forms and numbers above U+10FFFF are none.
Character first_character(std::string_view text);

/// What the splits of tokenizers distinguish: general categories L*, N*, the property White_Space, and the rest.
enum class CharacterKind { letter, number, space, other };
CharacterKind kind_of(char32_t code);

/// Text of a stranger as a person may see it, on one line and such that no two texts look alike because a character
/// does not show: `\` and `"` as \\ and \", new lines as \n, other characters that are invisible, move what is around
/// them or are not assigned as \u{...}, bytes that belong to no character as \xNN. Of a text that would take more than
/// `most` bytes, the beginning and "...".
std::string printable(std::string_view text, std::size_t most = std::string_view::npos);

/// printable() between double quotes, clipped: names in messages.
std::string quoted_name(std::string_view name);

/// A whole message, which may hold such text, on one line: like printable(), but `\` and `"` stay.
std::string one_line(std::string_view message, std::size_t most = std::string_view::npos);

}  // namespace tessera
