#include "tokenizer/words.hpp"

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

/// Bytes of the word at the beginning of a text that is not empty.
std::size_t word_length(std::string_view text) {
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
  // white space leaves its last character to the word behind it
  const Run run = run_of(CharacterKind::space, text);
  return run.length == text.size() || run.length == run.last ? run.length : run.length - run.last;
}

}  // namespace

std::vector<std::string_view> gpt2_words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    words.push_back(text.substr(0, word_length(text)));
    text.remove_prefix(words.back().size());
  }
  return words;
}

}  // namespace tessera
