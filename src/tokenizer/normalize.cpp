#include "tokenizer/normalize.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace tessera {
namespace {

constexpr auto canonical = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
constexpr auto compatible = static_cast<utf8proc_option_t>(canonical | UTF8PROC_COMPAT);

utf8proc_propval_t class_of(utf8proc_int32_t code) { return utf8proc_get_property(code)->combining_class; }

/// Decomposition with marks in canonical order. The library sorts them too, in quadratic time.
std::vector<utf8proc_int32_t> decompose(std::string_view text, utf8proc_option_t form) {
  std::vector<utf8proc_int32_t> codes;
  while (!text.empty()) {
    const Character next = first_character(text);
    std::array<utf8proc_int32_t, 32> parts{};
    int boundary = 0;
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(next.code), parts.data(), parts.size(), form, &boundary);
    if (count < 0 || count > static_cast<utf8proc_ssize_t>(parts.size())) {
      throw InputError("text: a character cannot be decomposed");
    }
    codes.insert(codes.end(), parts.begin(), parts.begin() + count);
    text.remove_prefix(next.length);
  }
  const auto marks = [](utf8proc_int32_t code) { return class_of(code) != 0; };
  for (auto begin = std::ranges::find_if(codes, marks); begin != codes.end();) {
    const auto end = std::find_if_not(begin, codes.end(), marks);
    std::stable_sort(begin, end, [](auto left, auto right) { return class_of(left) < class_of(right); });
    begin = std::find_if(end, codes.end(), marks);
  }
  return codes;
}

/// Composition of the well-formed stretches of a text, each for itself.
std::string composed(std::string_view text, utf8proc_option_t form) {
  const auto is_ascii = [](char byte) { return static_cast<unsigned char>(byte) < 0x80; };
  std::string result;
  while (!text.empty()) {
    const std::size_t good = well_formed_length(text);
    if (std::ranges::all_of(text.substr(0, good), is_ascii)) {
      result += text.substr(0, good);
    } else {
      std::vector<utf8proc_int32_t> codes = decompose(text.substr(0, good), form);
      const utf8proc_ssize_t count =
          utf8proc_normalize_utf32(codes.data(), static_cast<utf8proc_ssize_t>(codes.size()), canonical);
      for (utf8proc_ssize_t i = 0; i < count; ++i) {
        std::array<utf8proc_uint8_t, 4> bytes{};
        const utf8proc_ssize_t length = utf8proc_encode_char(codes[static_cast<std::size_t>(i)], bytes.data());
        result.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length));
      }
    }
    if (good < text.size()) {
      result += text[good];
    }
    text.remove_prefix(std::min(good + 1, text.size()));
  }
  return result;
}

}  // namespace

std::size_t well_formed_length(std::string_view text) {
  std::size_t good = 0;
  while (const std::size_t length = first_character(text.substr(good)).length) {
    good += length;
  }
  return good;
}

std::string nfc(std::string_view text) { return composed(text, canonical); }

std::string nfkc(std::string_view text) { return composed(text, compatible); }

std::string marks_to_spaces(std::string_view text) {
  constexpr std::string_view mark = "\u2581";
  std::string result;
  while (true) {
    const std::size_t found = text.find(mark);
    result += text.substr(0, found);
    if (found == std::string_view::npos) {
      return result;
    }
    result += ' ';
    text.remove_prefix(found + mark.size());
  }
}

}  // namespace tessera
