#include "tokenizer/words.hpp"

#include "tokenizer/word_parts.hpp"

namespace tessera {
namespace {

/// Bytes of the word at the beginning of a text that is not empty.
std::size_t gpt2_word(std::string_view text) {
  for (const std::string_view contraction : contractions) {
    if (text.starts_with(contraction)) {
      return contraction.size();
    }
  }
  const std::size_t space = text.front() == ' ' ? 1 : 0;
  if (space < text.size()) {
    const CharacterKind kind = kind_of(first_character(text.substr(space)).code);
    if (kind != CharacterKind::space) {
      return space + run_of(kind, text.substr(space)).length;
    }
  }
  return space_length(text);
}

/// What differs between the patterns of Llama 3 and those made after it.
struct Later {
  std::size_t numbers = 1;  // characters that a word of them has at most
  bool joins_lines = true;  // line ends follow other characters in a word
};

/// Bytes of the first word of a text that is not empty, by a pattern made after GPT-2's.
std::size_t later_word(std::string_view text, const Later& pattern) {
  if (const std::size_t contraction = caseless_contraction(text); contraction != 0) {
    return contraction;
  }
  const Character first = first_character(text);
  const CharacterKind kind = kind_of(first.code);
  if (kind == CharacterKind::letter) {
    return run_of(kind, text).length;
  }
  if (kind == CharacterKind::number) {
    return numbers_length(text, pattern.numbers);
  }
  if (!is_line_end(first.code)) {
    if (const Run letters = run_of(CharacterKind::letter, text.substr(first.length)); letters.length != 0) {
      return first.length + letters.length;
    }
  }
  const std::size_t space = text.front() == ' ' ? 1 : 0;
  if (const Run others = run_of(CharacterKind::other, text.substr(space)); others.length != 0) {
    const std::size_t length = space + others.length;
    return pattern.joins_lines ? length + run_while(text.substr(length), is_line_end).length : length;
  }
  return lines_length(text);
}

}  // namespace

std::vector<std::string_view> gpt2_words(std::string_view text) { return cut(text, gpt2_word); }

std::vector<std::string_view> llama3_words(std::string_view text) {
  return cut(text, [](std::string_view rest) { return later_word(rest, {.numbers = 3}); });
}

std::vector<std::string_view> qwen2_words(std::string_view text) {
  return cut(text, [](std::string_view rest) { return later_word(rest, {}); });
}

std::vector<std::string_view> seed_coder_words(std::string_view text) {
  return cut(text, [](std::string_view rest) { return later_word(rest, {.joins_lines = false}); });
}

std::vector<std::string_view> digits_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (const std::string_view part : isolate({text}, [](std::string_view rest) { return numbers_length(rest, 1); })) {
    const std::vector<std::string_view> between = gpt2_words(part);
    words.insert(words.end(), between.begin(), between.end());
  }
  return words;
}

std::vector<std::string_view> words_of(Split split, std::string_view text) {
  switch (split) {
    case Split::llama3:
      return llama3_words(text);
    case Split::qwen2:
      return qwen2_words(text);
    case Split::digits:
      return digits_words(text);
    case Split::deepseek_llm:
      return deepseek_llm_words(text);
    case Split::deepseek_coder:
      return deepseek_coder_words(text);
    case Split::deepseek_v3:
      return deepseek_v3_words(text);
    case Split::gpt4o:
      return gpt4o_words(text);
    case Split::tekken:
      return tekken_words(text);
    case Split::seed_coder:
      return seed_coder_words(text);
    case Split::bloom:
      return bloom_words(text);
    case Split::viking:
      return viking_words(text);
    default:
      return gpt2_words(text);
  }
}

}  // namespace tessera
