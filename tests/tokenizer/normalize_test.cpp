#include <gtest/gtest.h>
#include <utf8proc.h>

#include <cstdlib>
#include <ctime>
#include <random>

#include "tokenizer/normalize.hpp"

#include "utf8.hpp"

namespace tessera::test {
namespace {

TEST(Normalize, composition_is_the_librarys) {
  std::mt19937 random(11);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (std::size_t count = 1 + random() % 9; count > 0; --count) {
      // Latin, marks, Hangul syllables and letters, anything
      const char32_t bases[] = {0x41, 0x300, 0x1100, 0xAC00, 0x1D100, 0x0F70, 0x2126, 0x1};
      const char32_t code = bases[random() % 8] + static_cast<char32_t>(random() % 0x80);
      text += random() % 8 == 0 ? utf8(1 + static_cast<char32_t>(random() % 0xD700)) : utf8(code);
    }
    utf8proc_uint8_t* const expected = utf8proc_NFC(reinterpret_cast<const utf8proc_uint8_t*>(text.c_str()));
    ASSERT_NE(expected, nullptr);
    ASSERT_EQ(nfc(text), reinterpret_cast<const char*>(expected)) << text;
    std::free(expected);
  }
}

TEST(Normalize, known_texts) {
  EXPECT_EQ(nfc(""), "");
  EXPECT_EQ(nfc("abc"), "abc");
  EXPECT_EQ(nfc("e\u0301 \u212b \u1100\u1161"), "\u00e9 \u00c5 \uac00");
  EXPECT_EQ(nfc("a\u0301\u0323"), "\u1ea1\u0301");                    // the mark below comes first
  EXPECT_EQ(nfc("e\xff\u0301e\u0301\xc3"), "e\xff\u0301\u00e9\xc3");  // stretches by themselves
  EXPECT_EQ(nfc(std::string("e\0\u0301", 4)), std::string("e\0\u0301", 4));
  EXPECT_EQ(marks_to_spaces("\u2581a\u2581\u2581"), " a  ");
}

TEST(Normalize, many_marks_are_not_quadratic) {
  std::string text = "a";
  for (int i = 0; i < 200000; ++i) {
    text += i % 2 == 0 ? "\u0301" : "\u0323";
  }
  const std::clock_t start = std::clock();
  EXPECT_EQ(nfc(text).size(), text.size());
  EXPECT_LT(std::clock() - start, 2 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace tessera::test
