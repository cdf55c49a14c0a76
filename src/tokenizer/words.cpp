#include "tokenizer/words.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include "base/text.hpp"

namespace tessera {
namespace {

constexpr std::array<std::string_view, 7> contractions = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};

/// Bytes of the characters of one kind at the beginning of a text, and of the last of them.
struct Run {
  std::size_t length = 0, last = 0;
};

Run run_of(CharacterKind kind, std::string_view text) {
  Run run;
  while (run.length < text.size()) {
    const Character next = first_character(text.substr(run.length));
    assert(next.length > 0);
    if (kind_of(next.code) != kind) {
      break;
    }
    run.length += next.length;
    run.last = next.length;
  }
  return run;
}

/// White space leaves its last character to the word behind it.
std::size_t space_length(std::string_view text) {
  const Run run = run_of(CharacterKind::space, text);
  return run.length == text.size() || run.length == run.last ? run.length : run.length - run.last;
}

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

/// Bytes of a contraction in letters of either case at the beginning of a text, 0 if there is none.
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

bool is_line_end(char byte) { return byte == '\r' || byte == '\n'; }

/// The same as gpt2_word() with the patterns of Llama 3 and Qwen; a word has at most `digits` number characters.
std::size_t later_word(std::string_view text, std::size_t digits) {
  if (const std::size_t contraction = caseless_contraction(text); contraction != 0) {
    return contraction;
  }
  const Character first = first_character(text);
  const CharacterKind kind = kind_of(first.code);
  if (kind == CharacterKind::letter) {
    return run_of(kind, text).length;
  }
  if (kind == CharacterKind::number) {
    std::size_t length = first.length;
    for (std::size_t count = 1; count < digits && length < text.size(); ++count) {
      const Character next = first_character(text.substr(length));
      if (kind_of(next.code) != kind) {
        break;
      }
      length += next.length;
    }
    return length;
  }
  if (!is_line_end(text.front())) {
    if (const Run letters = run_of(CharacterKind::letter, text.substr(first.length)); letters.length != 0) {
      return first.length + letters.length;
    }
  }
  const std::size_t space = text.front() == ' ' ? 1 : 0;
  if (const Run others = run_of(CharacterKind::other, text.substr(space)); others.length != 0) {
    std::size_t length = space + others.length;
    while (length < text.size() && is_line_end(text[length])) {
      ++length;
    }
    return length;
  }
  const std::string_view spaces = text.substr(0, run_of(CharacterKind::space, text).length);
  const std::size_t line_end = spaces.find_last_of("\r\n");
  return line_end == std::string_view::npos ? space_length(text) : line_end + 1;
}

template <class Length>
std::vector<std::string_view> cut(std::string_view text, Length&& length) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    words.push_back(text.substr(0, length(text)));
    text.remove_prefix(words.back().size());
  }
  return words;
}

}  // namespace

std::vector<std::string_view> gpt2_words(std::string_view text) { return cut(text, gpt2_word); }

std::vector<std::string_view> llama3_words(std::string_view text) {
  return cut(text, [](std::string_view rest) { return later_word(rest, 3); });
}

std::vector<std::string_view> qwen2_words(std::string_view text) {
  return cut(text, [](std::string_view rest) { return later_word(rest, 1); });
}

std::vector<std::string_view> digits_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  const auto finish = [&](std::size_t end) {
    const std::vector<std::string_view> between = gpt2_words(text.substr(begin, end - begin));
    words.insert(words.end(), between.begin(), between.end());
  };
  for (std::size_t place = 0; place < text.size();) {
    const Character next = first_character(text.substr(place));
    if (kind_of(next.code) == CharacterKind::number) {
      finish(place);
      words.push_back(text.substr(place, next.length));
      begin = place + next.length;
    }
    place += next.length;
  }
  finish(text.size());
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
    default:
      return gpt2_words(text);
  }
}

}  // namespace tessera
