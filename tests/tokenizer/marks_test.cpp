#include <gmock/gmock.h>

#include "base/errors.hpp"
#include "tokenizer/tokenizer.hpp"

namespace tessera::test {
namespace {

using testing::ElementsAre;

/// Bytes 0 to 255, then these tokens, cut out of the text or of the normalized one.
TokenizerData bytes_and(std::vector<std::string> added, bool normalized = false) {
  TokenizerData data;
  data.model = TokenizerModel::byte_level;
  for (unsigned byte = 0; byte < 256; ++byte) {
    data.vocabulary.emplace_back(1, static_cast<char>(byte));
  }
  for (std::string& text : added) {
    (normalized ? data.added_normalized : data.added).push_back(static_cast<std::uint32_t>(data.vocabulary.size()));
    data.vocabulary.push_back(std::move(text));
  }
  return data;
}

std::vector<std::uint32_t> encode(const TokenizerData& data, const std::string& text, std::vector<std::size_t> marks) {
  return Tokenizer(data).encode_marked(text, marks);
}

TEST(Marks, tokens_neither_begin_nor_end_with_marked_bytes) {
  for (const bool normalized : {false, true}) {
    const TokenizerData data = bytes_and({"<s>", "<s>>", "x"}, normalized);
    EXPECT_THAT(encode(data, "<s>a", {}), ElementsAre(256, 'a'));
    EXPECT_THAT(encode(data, "<s>a", {0}), ElementsAre('<', 's', '>', 'a'));
    EXPECT_THAT(encode(data, "<s>a", {2}), ElementsAre('<', 's', '>', 'a'));
    EXPECT_THAT(encode(data, "<s>a", {1}), ElementsAre(256, 'a'));  // a template writes what is around
    EXPECT_THAT(encode(data, "<s>>", {3}), ElementsAre(256, '>'));  // the shorter one is the template's
    EXPECT_THAT(encode(data, "ax<s>", {1}), ElementsAre('a', 'x', 256));
    EXPECT_THAT(encode(data, "<s><s>", {3, 5}), ElementsAre(256, '<', 's', '>'));
  }
}

TEST(Marks, moved_by_a_normalizer_are_no_guess) {
  TokenizerData data = bytes_and({"<s>"}, true);
  data.normalizer = Normalizer::nfc;
  EXPECT_THAT(encode(data, "a<s>", {1}), ElementsAre('a', '<', 's', '>'));  // nothing has moved
  EXPECT_EQ(encode(data, "e\u0301<", {3}).size(), 3U);                      // no token stands there
  EXPECT_THROW((void)encode(data, "e\u0301<s>", {3}), InputError);
}

}  // namespace
}  // namespace tessera::test
