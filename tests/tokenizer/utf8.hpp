#pragma once

#include <utf8proc.h>

#include <string>

namespace tessera::test {

/// The bytes of a code point.
inline std::string utf8(char32_t code) {
  std::string text(4, '\0');
  text.resize(static_cast<std::size_t>(
      utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), reinterpret_cast<utf8proc_uint8_t*>(text.data()))));
  return text;
}

}  // namespace tessera::test
