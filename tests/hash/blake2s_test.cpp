#include <gtest/gtest.h>

#include <numeric>

#include "hash/blake2s.hpp"

#include "openssl_digest.hpp"

namespace tessera::test {
namespace {

std::vector<std::uint8_t> counted_bytes(std::size_t length) {
  std::vector<std::uint8_t> message(length);
  std::iota(message.begin(), message.end(), std::uint8_t{1});
  return message;
}

/// RFC 7693, appendix B: BLAKE2s-256("abc").
TEST(Blake2s, gives_the_digest_of_the_standard) {
  constexpr Digest expected{0x50, 0x8c, 0x5e, 0x8c, 0x32, 0x7c, 0x14, 0xe2, 0xe1, 0xa7, 0x2b,
                            0xa3, 0x4e, 0xeb, 0x45, 0x2f, 0x37, 0x45, 0x8b, 0x20, 0x9e, 0xd6,
                            0x3a, 0x29, 0x4d, 0x99, 0x9b, 0x4c, 0x86, 0x67, 0x59, 0x82};
  Blake2s hash;
  hash.update(std::vector<std::uint8_t>{'a', 'b', 'c'});
  EXPECT_EQ(hash.digest(), expected);
}

TEST(Blake2s, gives_the_digests_of_open_ssl) {
  for (std::size_t length = 0; length <= 260; ++length) {
    const std::vector<std::uint8_t> message = counted_bytes(length);
    Blake2s hash;
    hash.update(message);
    EXPECT_EQ(hash.digest(), by_openssl(message)) << length;
    EXPECT_EQ(blake2s(message), by_openssl(message)) << length;
  }
}

TEST(Blake2s, parts_make_no_difference) {
  const std::vector<std::uint8_t> message = counted_bytes(1000);
  for (const std::size_t part : {1, 63, 64, 65, 129}) {
    Blake2s hash;
    for (std::span<const std::uint8_t> rest(message); !rest.empty(); rest = rest.subspan(std::min(part, rest.size()))) {
      hash.update(rest.first(std::min(part, rest.size())));
    }
    EXPECT_EQ(hash.digest(), by_openssl(message)) << part;
  }
}

}  // namespace
}  // namespace tessera::test
