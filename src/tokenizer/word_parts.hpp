#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace tessera {

inline constexpr std::array<std::string_view, 7> contractions = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};

/// Bytes of the characters of one kind at the beginning of a text, and of the last of them.
struct Run {
  std::size_t length = 0, last = 0;
};
Run run_of(CharacterKind kind, std::string_view text);

/// Bytes of the characters at the beginning of a text for which `belongs(code)` holds, and of the last of them.
template <class Belongs>
Run run_while(std::string_view text, Belongs&& belongs) {
  Run run;
  while (run.length < text.size()) {
    const Character next = first_character(text.substr(run.length));
    if (!belongs(next.code)) {
      break;
    }
    run.length += next.length;
    run.last = next.length;
  }
  return run;
}

/// \s+(?!\S)|\s+ at the beginning of a text: white space leaves its last character to the word behind it.
std::size_t space_length(std::string_view text);
/// \s*[\r\n]+|\s+(?!\S)|\s+ at the beginning of a text, 0 if none fits.
std::size_t lines_length(std::string_view text);
/// (?i:'s|'t|'re|'ve|'m|'ll|'d) at the beginning of a text, 0 if it does not fit.
std::size_t caseless_contraction(std::string_view text);
/// Bytes of the characters \p{N} at the beginning of a text, at most `most` characters.
std::size_t numbers_length(std::string_view text, std::size_t most);
inline bool is_line_end(char32_t code) { return code == '\r' || code == '\n'; }

/// A text in the words whose lengths `length(rest)` says, of rests that are not empty.
template <class Length>
std::vector<std::string_view> cut(std::string_view text, Length&& length) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    words.push_back(text.substr(0, length(text)));
    text.remove_prefix(words.back().size());
  }
  return words;
}

/// Each of the texts cut before and behind each match, from left to right; `length(rest)` is that of the match where a
/// rest begins, 0 if there is none. What lies between two matches stays whole.
template <class Length>
std::vector<std::string_view> isolate(const std::vector<std::string_view>& texts, Length&& length) {
  std::vector<std::string_view> words;
  for (const std::string_view text : texts) {
    std::size_t begin = 0;
    for (std::size_t place = 0; place < text.size();) {
      const std::size_t found = length(text.substr(place));
      if (found == 0) {
        place += first_character(text.substr(place)).length;
        continue;
      }
      if (begin < place) {
        words.push_back(text.substr(begin, place - begin));
      }
      words.push_back(text.substr(place, found));
      begin = place += found;
    }
    if (begin < text.size()) {
      words.push_back(text.substr(begin));
    }
  }
  return words;
}

}  // namespace tessera
