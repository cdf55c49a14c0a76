#include "tokenizer/word_parts.hpp"

#include <algorithm>
#include <array>

namespace tessera {

Run run_of(CharacterKind kind, std::string_view text) {
  return run_while(text, [kind](char32_t code) { return kind_of(code) == kind; });
}

std::size_t space_length(std::string_view text) {
  const Run run = run_of(CharacterKind::space, text);
  return run.length == text.size() || run.length == run.last ? run.length : run.length - run.last;
}

std::size_t lines_length(std::string_view text) {
  const std::string_view spaces = text.substr(0, run_of(CharacterKind::space, text).length);
  const std::size_t line_end = spaces.find_last_of("\r\n");
  return line_end == std::string_view::npos ? space_length(text) : line_end + 1;
}

std::size_t caseless_contraction(std::string_view text) {
  constexpr std::string_view long_s = "'\u017F";
  if (text.starts_with(long_s)) {
    return long_s.size();
  }
  const auto same = [](char left, char right) { return left == right || (left >= 'a' && left - right == 'a' - 'A'); };
  for (const std::string_view contraction : contractions) {
    if (std::ranges::equal(contraction, text.substr(0, contraction.size()), same)) {
      return contraction.size();
    }
  }
  return 0;
}

std::size_t numbers_length(std::string_view text, std::size_t most) {
  std::size_t length = 0;
  for (std::size_t count = 0; count < most && length < text.size(); ++count) {
    const Character next = first_character(text.substr(length));
    if (kind_of(next.code) != CharacterKind::number) {
      break;
    }
    length += next.length;
  }
  return length;
}

}  // namespace tessera
