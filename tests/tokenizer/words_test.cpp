#include <gtest/gtest.h>
#include <utf8proc.h>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <memory>
#include <random>

#include "base/text.hpp"
#include "tokenizer/tokenizer_data.hpp"
#include "tokenizer/words.hpp"

#include "utf8.hpp"

namespace tessera::test {
namespace {

// \s is spelled out as Unicode White_Space: PCRE2's own has one character more (U+180E)
#define TESSERA_SPACE \
  R"(\x{09}-\x{0D}\x{20}\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})"
constexpr std::string_view gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
// the letters with a case that deepseek_llm's list has
constexpr std::string_view cased_letters =
    R"(\x{41}-\x{5A}\x{61}-\x{7A}\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}\x{1BC}-\x{1BF})"
    R"(\x{1C4}-\x{293}\x{295}-\x{2AF}\x{370}-\x{373}\x{376}-\x{377}\x{37B}-\x{37D}\x{37F}\x{386})"
    R"(\x{388}-\x{38A}\x{38C}\x{38E}-\x{3A1}\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F}\x{531}-\x{556})"
    R"(\x{10A0}-\x{10C5}\x{13A0}-\x{13F5}\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF})"
    R"(\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A}\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D})"
    R"(\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D}\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D}\x{1F5F}-\x{1F7D})"
    R"(\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4}\x{1FC6}-\x{1FCC}\x{1FD0}-\x{1FD3})"
    R"(\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102}\x{2107})"
    R"(\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124}\x{2126}\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134})"
    R"(\x{2139}\x{213C}-\x{213F}\x{2145}-\x{2149}\x{214E}\x{2183}-\x{2184}\x{2C00}-\x{2C7B})"
    R"(\x{2C7E}-\x{2CE4}\x{2CEB}-\x{2CEE}\x{2CF2}-\x{2CF3}\x{A640}-\x{A66D}\x{A680}-\x{A69B})"
    R"(\x{A722}-\x{A76F}\x{A771}-\x{A787}\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF}\x{FB00}-\x{FB06})"
    R"(\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A}\x{10400}-\x{1044F}\x{104B0}-\x{104D3})"
    R"(\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2}\x{118A0}-\x{118DF}\x{1E900}-\x{1E943})";
const std::vector<std::string> deepseek_llm_patterns = {
    R"([\r\n])",
    R"(\s?[)" + std::string(cased_letters) + "]+",
    R"(\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F}\x{3000}-\x{3002}]+)",
    R"(\s+$)",
    R"([\x{4E00}-\x{9FA5}\x{800}-\x{4E00}\x{AC00}-\x{D7FF}]+)",
    R"(\p{N})"};
const std::vector<std::string> deepseek_coder_patterns = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)",
                                                          R"([\x{4E00}-\x{9FA5}\x{800}-\x{4E00}\x{AC00}-\x{D7FF}]+)",
                                                          R"(\p{N})"};
const std::vector<std::string> deepseek_v3_patterns = {
    R"(\p{N}{1,3})", R"([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)",
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)"};
const std::string bloom_pattern = R"( ?[^(\s|.,!?\x{2026}\x{3002}\x{FF0C}\x{3001}\x{964}\x{6D4}\x{60C})]+)";

/// \s and \S of a pattern, in and outside of classes, spelled out.
std::string spelled(std::string_view pattern) {
  constexpr std::string_view space = TESSERA_SPACE;
  std::string result;
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view two = pattern.substr(i, 2);
    if (two == "\\s" || two == "\\S") {
      const std::string class_of = (two == "\\S" ? "[^" : "[") + std::string(space) + "]";
      result += in_class ? std::string(space) : class_of;
      ++i;
    } else if (two.front() == '\\') {
      result += two;
      ++i;
    } else {
      in_class = pattern[i] == '[' || (in_class && pattern[i] != ']');
      result += pattern[i];
    }
  }
  return result;
}

/// A pattern of PCRE2, anchored.
class Pattern {
 public:
  explicit Pattern(const std::string& pattern) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    code_ = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
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

bool is_surrogate(char32_t code) { return code >= 0xD800 && code < 0xE000; }

TEST(Words, kinds_are_those_of_another_library) {
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

using Words = std::vector<std::string_view>;

/// A text cut before and behind each match.
Words isolated(const Pattern& pattern, std::string_view text) {
  Words words;
  std::size_t begin = 0;
  for (std::size_t place = 0; place < text.size();) {
    const std::size_t length = pattern.length(text, place);
    if (length == 0) {
      place += first_character(text.substr(place)).length;
      continue;
    }
    for (const std::string_view word : {text.substr(begin, place - begin), text.substr(place, length)}) {
      if (!word.empty()) {
        words.push_back(word);
      }
    }
    begin = place += length;
  }
  if (begin < text.size()) {
    words.push_back(text.substr(begin));
  }
  return words;
}

/// Texts of frequent pieces and of any characters that both libraries know.
class RandomTexts {
 public:
  std::string next() {
    static const std::vector<std::string> often = {
        " ",      "  ",     "\n",     "\t",     "'",      "'s",     "'re",    "'ll",    "'S",      "a",      "B",
        "1",      "23",     "?",      ".",      "/",      "(",      "|",      "\u00a0", "\u3000",  "\u2028", "\u180e",
        "\u200b", "\u00e9", "\u0301", "\r",     "cD",     "Ef",     "$",      "+",      "'\u017f", "'Ve",    "\u4e2d",
        "\u30fb", "\u30a2", "\uac00", "\u01c5", "\u02b0", "\u0414", "\u0645", "\u06d4", "\u2026",  "\u0660"};
    std::string text;
    const std::size_t count = random_() % 12;
    for (std::size_t i = 0; i < count; ++i) {
      const auto code = static_cast<char32_t>(random_() % (random_() % 2 == 0 ? 0x3000U : 0x110000U));
      const bool known = code < 0x110000 && !is_surrogate(code) &&
                         utf8proc_category(static_cast<utf8proc_int32_t>(code)) != 0 &&
                         unassigned_.length(utf8(code)) == 0;
      text += random_() % 3 != 0 || !known ? often[random_() % often.size()] : utf8(code);
    }
    return text;
  }

 private:
  std::mt19937 random_{7};
  Pattern unassigned_{"\\p{Cn}"};
};

/// Compares a split with patterns one after the other.
template <class Split>
void expect_splits_as(const std::vector<std::string>& expressions, Split&& split) {
  std::vector<std::unique_ptr<Pattern>> patterns;
  for (const std::string& expression : expressions) {
    patterns.push_back(std::make_unique<Pattern>(spelled(expression)));
  }
  RandomTexts texts;
  for (int round = 0; round < 20000; ++round) {
    const std::string text = texts.next();
    Words expected = {text};
    for (const auto& pattern : patterns) {
      Words next;
      for (const std::string_view part : expected) {
        const Words words = isolated(*pattern, part);
        next.insert(next.end(), words.begin(), words.end());
      }
      expected = next;
    }
    ASSERT_EQ(split(text), expected) << text;
  }
}

TEST(Words, random_texts_are_split_as_by_the_regular_expressions) {
  expect_splits_as({std::string(gpt2_pattern)}, gpt2_words);
  expect_splits_as({std::string(llama3_pattern)}, llama3_words);
  expect_splits_as({std::string(qwen2_pattern)}, qwen2_words);
  expect_splits_as({"\\p{N}", std::string(gpt2_pattern)}, digits_words);
}

TEST(Words, random_texts_are_split_as_by_later_regular_expressions) {
  expect_splits_as({std::string(gpt4o_pattern)}, gpt4o_words);
  expect_splits_as({std::string(tekken_pattern)}, tekken_words);
  expect_splits_as({std::string(seed_coder_pattern)}, seed_coder_words);
  expect_splits_as({bloom_pattern}, bloom_words);
  expect_splits_as({bloom_pattern, "\\p{N}"}, viking_words);
}

TEST(Words, random_texts_are_split_as_by_deep_seeks_regular_expressions) {
  expect_splits_as(deepseek_llm_patterns, deepseek_llm_words);
  expect_splits_as(deepseek_coder_patterns, deepseek_coder_words);
  expect_splits_as(deepseek_v3_patterns, deepseek_v3_words);
}

TEST(Words, no_split_takes_quadratic_time) {
  for (const std::string_view piece : {" ", "A", "a\u0301", "\n ", "?", "\u4e2d", "1"}) {
    std::string text;
    for (int i = 0; i < 60000; ++i) {
      text += piece;
    }
    text += "b";
    for (std::size_t split = 0; split < splits().size(); ++split) {
      std::size_t bytes = 0;
      for (const std::string_view word : words_of(static_cast<Split>(split), text)) {
        bytes += word.size();
      }
      EXPECT_EQ(bytes, text.size());
    }
  }
}

TEST(Words, known_splits) {
  EXPECT_EQ(gpt2_words(""), Words{});
  EXPECT_EQ(gpt2_words("It's 12  o'clock.\n\n "), (Words{"It", "'s", " 12", " ", " o", "'", "clock", ".", "\n\n "}));
  EXPECT_EQ(gpt2_words("a \n b"), (Words{"a", " \n", " b"}));
  EXPECT_EQ(gpt2_words("a\nb"), (Words{"a", "\n", "b"}));
  EXPECT_EQ(llama3_words("It'S 12345 (ok)\n\n  x"),
            (Words{"It", "'S", " ", "123", "45", " (", "ok", ")\n\n", " ", " x"}));
  EXPECT_EQ(qwen2_words("12 \r\n a"), (Words{"1", "2", " \r\n", " a"}));
  EXPECT_EQ(tekken_words("HelloWORLD 12's"), (Words{"Hello", "WORLD", " ", "1", "2", "'s"}));
  EXPECT_EQ(gpt4o_words("HelloWORLD'S 1234"), (Words{"Hello", "WORLD'S", " ", "123", "4"}));
  EXPECT_EQ(seed_coder_words("(ok)\n\n"), (Words{"(ok", ")", "\n\n"}));
  EXPECT_EQ(deepseek_llm_words("a  b1\n"), (Words{"a", " ", " b", "1", "\n"}));
  EXPECT_EQ(deepseek_v3_words("\u4e2d\u6587 .x.y12345"), (Words{"\u4e2d\u6587", " .", "x", ".y", "123", "45"}));
  EXPECT_EQ(bloom_words("a, b (c)"), (Words{"a", ",", " b", " (", "c", ")"}));
  EXPECT_EQ(digits_words("a 12  b's"), (Words{"a", " ", "1", "2", " ", " b", "'s"}));
}

#undef TESSERA_SPACE

}  // namespace
}  // namespace tessera::test
