#include <gtest/gtest.h>

#include "base/text.hpp"

namespace tessera::test {
namespace {

std::string utf8(const char32_t* text) {
  std::string result;
  for (; *text != 0; ++text) {
    const auto c = static_cast<unsigned>(*text);
    const auto tail = [c](unsigned shift) { return static_cast<char>(0x80U | ((c >> shift) & 63U)); };
    if (c < 0x80) {
      result += static_cast<char>(c);
    } else if (c < 0x800) {
      result += {static_cast<char>(0xC0U | c >> 6U), tail(0)};
    } else if (c < 0x10000) {
      result += {static_cast<char>(0xE0U | c >> 12U), tail(6), tail(0)};
    } else {
      result += {static_cast<char>(0xF0U | c >> 18U), tail(12), tail(6), tail(0)};
    }
  }
  return result;
}

TEST(Text, ordinary_text_stays) {
  const std::string text = "The old man, 100 % \u00e9t\u00e9, \u65e5\u672c, e\u0301, \U0001F600 \u2014 \u2026";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(one_line(text), text);
}

TEST(Text, what_does_not_show_is_escaped) {
  for (const char32_t code :
       {0x01U,   0x1BU,   0x7FU,    0x85U,    0x9BU,    0xA0U,     0xADU,   0x34FU,  0x61CU,  0x115FU,
        0x1160U, 0x180EU, 0x2003U,  0x200BU,  0x200DU,  0x200EU,   0x202EU, 0x2028U, 0x2029U, 0x2060U,
        0x2062U, 0x2066U, 0x2069U,  0x2800U,  0x3000U,  0x3164U,   0xE000U, 0xFE0FU, 0xFEFFU, 0xFFA0U,
        0xFFF9U, 0xFFFFU, 0xE0001U, 0xE0041U, 0xE01EFU, 0x10FFFFU, 0x378U}) {
    const char32_t text[] = {'a', code, 'b', 0};
    char expected[32];
    std::snprintf(expected, sizeof expected, "a\\u{%x}b", static_cast<unsigned>(code));
    EXPECT_EQ(printable(utf8(text)), expected);
    EXPECT_EQ(one_line(utf8(text)), expected);
  }
  EXPECT_EQ(printable("a\nb"), "a\\nb");
}

TEST(Text, nothing_looks_like_an_escape) {
  EXPECT_EQ(printable("\\x1b \"quoted\" \\"), "\\\\x1b \\\"quoted\\\" \\\\");
  EXPECT_EQ(one_line("a\\b \"c\""), "a\\b \"c\"");
  EXPECT_EQ(quoted_name("he\n"), "\"he\\n\"");
}

TEST(Text, a_mark_does_not_join_what_is_not_the_texts) {
  EXPECT_EQ(printable("\u0338a"), "\\u{338}a");
  EXPECT_EQ(printable("\n\u0338"), "\\n\\u{338}");
  EXPECT_EQ(printable("\"\u0338\u0301"), "\\\"\\u{338}\\u{301}");
}

TEST(Text, bytes_that_are_no_character_are_escaped) {
  EXPECT_EQ(printable("a\xff"), "a\\xff");
  EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");  // cut
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\u{0}b");
}

TEST(Text, long_text_is_cut_between_characters) {
  EXPECT_EQ(printable("abc", 3), "abc");
  EXPECT_EQ(printable("abcd", 3), "abc...");
  EXPECT_EQ(printable("ab\u00e9", 3), "ab...");
  EXPECT_EQ(printable("a\n", 2), "a...");
}

}  // namespace
}  // namespace tessera::test
