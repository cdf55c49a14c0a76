#include <gtest/gtest.h>

#include <cstring>
#include <ctime>

#include "tokenizer/tokenizer.hpp"

namespace tessera::test {
namespace {

constexpr std::uint64_t multiplier = 0xc6a4a7935bd1e995;  // of the standard library's hash of bytes
constexpr std::uint64_t inverse = 0x5f7a0ea7e59b19bd;
static_assert(multiplier * inverse == 1);

/// The eight bytes that the hash mixes in as `mixed`.
std::string block_of(std::uint64_t mixed) {
  const std::uint64_t shifted = mixed * inverse;
  const std::uint64_t block = (shifted ^ shifted >> 47U) * inverse;
  std::string bytes(sizeof block, '\0');
  std::memcpy(bytes.data(), &block, sizeof block);
  return bytes;
}

/// 2^16 strings of one hash: the top bit of a mixed block stays alone until the next block takes it back.
std::vector<std::string> strings_of_one_hash() {
  constexpr std::uint64_t top = std::uint64_t{1} << 63U;
  std::vector<std::string> strings(std::size_t{1} << 16U);
  for (std::size_t i = 0; i < strings.size(); ++i) {
    for (unsigned bit = 0; bit < 16; ++bit) {
      const std::uint64_t flipped = (i >> bit & 1U) != 0 ? top : 0;
      strings[i] += block_of(2 * bit + 1 + flipped) + block_of(2 * bit + 2 + flipped);
    }
  }
  return strings;
}

TEST(HostileTokenizer, TokensOfOneHashAreNotQuadratic) {
  TokenizerData data{strings_of_one_hash(), {}, 0};
  ASSERT_EQ(std::hash<std::string_view>{}(data.vocabulary[0]), std::hash<std::string_view>{}(data.vocabulary[12345]));
  for (int byte = 0; byte < 256; ++byte) {
    data.vocabulary.emplace_back(1, static_cast<char>(byte));
  }
  const std::clock_t start = std::clock();
  const Tokenizer tokenizer(std::move(data));
  EXPECT_LT(std::clock() - start, 2 * CLOCKS_PER_SEC);
  EXPECT_EQ(tokenizer.encode("a").size(), 1U);
}

}  // namespace
}  // namespace tessera::test
