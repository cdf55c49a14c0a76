#include <gtest/gtest.h>
#include <utf8proc.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <random>

#include "base/text.hpp"
#include "tokenizer/words.hpp"

namespace tessera::test {
namespace {

// \s is spelled out as Unicode White_Space: PCRE2's own has one character more (U+180E)
#define TESSERA_SPACE \
  R"(\x{09}-\x{0D}\x{20}\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})"
constexpr const char* gpt2_pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{L}\p{N})" TESSERA_SPACE
                                     R"(]+|[)" TESSERA_SPACE R"(]+(?![^)" TESSERA_SPACE R"(])|[)" TESSERA_SPACE R"(]+)";

// of llama3_pattern and qwen2_pattern, with \s spelled out likewise
constexpr const char* llama3_expression =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\p{L}\p{N})" TESSERA_SPACE
    R"(]+[\r\n]*|[)" TESSERA_SPACE R"(]*[\r\n]+|[)" TESSERA_SPACE R"(]+(?![^)" TESSERA_SPACE R"(])|[)" TESSERA_SPACE
    R"(]+)";
constexpr const char* qwen2_expression =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\p{L}\p{N})" TESSERA_SPACE
    R"(]+[\r\n]*|[)" TESSERA_SPACE R"(]*[\r\n]+|[)" TESSERA_SPACE R"(]+(?![^)" TESSERA_SPACE R"(])|[)" TESSERA_SPACE
    R"(]+)";

/// A pattern of PCRE2, anchored.
class Pattern {
 public:
  explicit Pattern(const char* pattern) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    code_ = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern), PCRE2_ZERO_TERMINATED,
                          PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED, &error, &offset, nullptr);
    pcre2_jit_compile(code_, PCRE2_JIT_COMPLETE);
    match_ = pcre2_match_data_create_from_pattern(code_, nullptr);
  }
  ~Pattern() {
    pcre2_match_data_free(match_);
    pcre2_code_free(code_);
  }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  /// Bytes of the match at `begin`; 0 if there is none.
  [[nodiscard]] std::size_t length(std::string_view text, std::size_t begin = 0) const {
    const int found = pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), begin,
                                  PCRE2_NO_UTF_CHECK, match_, nullptr);
    return found < 0 ? 0 : pcre2_get_ovector_pointer(match_)[1] - begin;
  }

 private:
  pcre2_code* code_ = nullptr;
  pcre2_match_data* match_ = nullptr;
};

std::string utf8(char32_t code) {
  std::string text(4, '\0');
  text.resize(static_cast<std::size_t>(
      utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), reinterpret_cast<utf8proc_uint8_t*>(text.data()))));
  return text;
}

bool is_surrogate(char32_t code) { return code >= 0xD800 && code < 0xE000; }

TEST(Words, KindsAreThoseOfAnotherLibrary) {
  const Pattern letter("\\p{L}"), number("\\p{N}"), space("[" TESSERA_SPACE "]"), unassigned("\\p{Cn}");
  std::size_t newer = 0;
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (is_surrogate(code)) {
      continue;
    }
    const std::string text = utf8(code);
    const CharacterKind expected = letter.length(text) > 0   ? CharacterKind::letter
                                   : number.length(text) > 0 ? CharacterKind::number
                                   : space.length(text) > 0  ? CharacterKind::space
                                                             : CharacterKind::other;
    if (kind_of(code) != expected) {  // one of the libraries is of an older version of Unicode
      ++newer;
      EXPECT_TRUE(unassigned.length(text) > 0 || utf8proc_category(static_cast<utf8proc_int32_t>(code)) == 0)
          << static_cast<unsigned>(code);
    }
  }
  EXPECT_LT(newer, 10000U);
}

/// Compares a split of texts of frequent pieces and of any characters that both libraries know.
template <class Split>
void expect_splits_as(const char* expression, Split&& split) {
  const Pattern pattern(expression), unassigned("\\p{Cn}");
  std::mt19937 random(7);
  const std::vector<std::string> often = {
      " ", "  ", "\n",     "\t",     "'",      "'s",     "'re",    "'ll",    "'S",     "a",  "B",       "1",  "23",
      "?", ".",  "\u00a0", "\u3000", "\u2028", "\u180e", "\u200b", "\u00e9", "\u0301", "\r", "'\u017f", "'Ve"};
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    const std::size_t count = random() % 12;
    for (std::size_t i = 0; i < count; ++i) {
      const auto code = static_cast<char32_t>(random() % (random() % 2 == 0 ? 0x3000U : 0x110000U));
      const bool known = code < 0x110000 && !is_surrogate(code) &&
                         utf8proc_category(static_cast<utf8proc_int32_t>(code)) != 0 &&
                         unassigned.length(utf8(code)) == 0;
      text += random() % 3 != 0 || !known ? often[random() % often.size()] : utf8(code);
    }
    std::vector<std::string_view> expected;
    for (std::size_t begin = 0; begin < text.size(); begin += expected.back().size()) {
      expected.push_back(std::string_view(text).substr(begin, pattern.length(text, begin)));
      ASSERT_FALSE(expected.back().empty());
    }
    ASSERT_EQ(split(text), expected) << text;
  }
}

TEST(Words, RandomTextsAreSplitAsByTheRegularExpressions) {
  expect_splits_as(gpt2_pattern, gpt2_words);
  expect_splits_as(llama3_expression, llama3_words);
  expect_splits_as(qwen2_expression, qwen2_words);
}

TEST(Words, KnownSplits) {
  using Words = std::vector<std::string_view>;
  EXPECT_EQ(gpt2_words(""), Words{});
  EXPECT_EQ(gpt2_words("It's 12  o'clock.\n\n "), (Words{"It", "'s", " 12", " ", " o", "'", "clock", ".", "\n\n "}));
  EXPECT_EQ(gpt2_words("a \n b"), (Words{"a", " \n", " b"}));
  EXPECT_EQ(gpt2_words("a\nb"), (Words{"a", "\n", "b"}));
  EXPECT_EQ(llama3_words("It'S 12345 (ok)\n\n  x"),
            (Words{"It", "'S", " ", "123", "45", " (", "ok", ")\n\n", " ", " x"}));
  EXPECT_EQ(qwen2_words("12 \r\n a"), (Words{"1", "2", " \r\n", " a"}));
  EXPECT_EQ(digits_words("a 12  b's"), (Words{"a", " ", "1", "2", " ", " b", "'s"}));
}

}  // namespace
}  // namespace tessera::test
