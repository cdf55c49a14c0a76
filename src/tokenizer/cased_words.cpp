#include "tokenizer/categories.hpp"
#include "tokenizer/word_parts.hpp"
#include "tokenizer/words.hpp"

namespace tessera {
namespace {

constexpr std::uint32_t upper = upper_letters | title_letters | other_letters | marks;
constexpr std::uint32_t lower = lower_letters | other_letters | marks;

/// What differs between the two patterns.
struct Cased {
  std::size_t numbers = 1;
  bool contractions = false;  // belong to the word before them
};

/// [upper]*[lower]+ at the beginning of a text, 0 if it does not fit. Where nothing lower follows the longest run of
/// upper ones, the last of them that is lower too is given back.
std::size_t lower_end(std::string_view text) {
  std::size_t both = 0;  // behind the last character of the run that is lower too
  std::size_t place = 0;
  while (place < text.size()) {
    const Character next = first_character(text.substr(place));
    if (!is_in(next.code, upper)) {
      break;
    }
    place += next.length;
    both = is_in(next.code, lower) ? place : both;
  }
  const std::size_t run = run_while(text.substr(place), [](char32_t code) { return is_in(code, lower); }).length;
  return run == 0 ? both : place + run;
}

/// Bytes of [upper]+[lower]* at the beginning of a text; 0 if it does not begin so.
std::size_t upper_end(std::string_view text) {
  const std::size_t run = run_while(text, [](char32_t code) { return is_in(code, upper); }).length;
  return run == 0 ? 0 : run + run_while(text.substr(run), [](char32_t code) { return is_in(code, lower); }).length;
}

/// Letters and marks of a word, with the one character before them that it may have; 0 if there are none.
std::size_t letters_length(std::string_view text) {
  const Character first = first_character(text);
  const bool prefix = !is_line_end(first.code) && !is_in(first.code, letters | numbers);
  for (const auto length : {lower_end, upper_end}) {
    if (prefix && length(text.substr(first.length)) != 0) {
      return first.length + length(text.substr(first.length));
    }
    if (length(text) != 0) {
      return length(text);
    }
  }
  return 0;
}

std::size_t cased_word(std::string_view text, const Cased& pattern) {
  if (const std::size_t length = letters_length(text); length != 0) {
    return pattern.contractions ? length + caseless_contraction(text.substr(length)) : length;
  }
  if (const std::size_t length = numbers_length(text, pattern.numbers); length != 0) {
    return length;
  }
  const std::size_t space = text.front() == ' ' ? 1 : 0;
  if (const Run others = run_of(CharacterKind::other, text.substr(space)); others.length != 0) {
    const std::size_t length = space + others.length;
    return length +
           run_while(text.substr(length), [](char32_t code) { return is_line_end(code) || code == '/'; }).length;
  }
  return lines_length(text);
}

}  // namespace

std::vector<std::string_view> gpt4o_words(std::string_view text) {
  return cut(text, [](std::string_view rest) { return cased_word(rest, {.numbers = 3, .contractions = true}); });
}

std::vector<std::string_view> tekken_words(std::string_view text) {
  return cut(text, [](std::string_view rest) { return cased_word(rest, {}); });
}

}  // namespace tessera
