#include <gtest/gtest.h>

#include <numeric>
#include <string_view>

#include "hash/dataset_hash.hpp"
#include "hash/merkle_tree.hpp"

#include "openssl_digest.hpp"

namespace tessera::test {
namespace {

std::vector<std::uint8_t> message_of(std::size_t length) {
  std::vector<std::uint8_t> message(length);
  std::uint32_t state = 1;
  std::ranges::generate(message,
                        [&] { return static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24); });
  return message;
}

/// What src/guide/files.md says, piece by piece.
Digest by_the_page(std::span<const std::uint8_t> message) {
  if (message.size() <= 1048576) {
    return by_openssl(message);
  }
  constexpr std::string_view domain = "tessera pieces\n";
  std::vector<std::uint8_t> digests(domain.begin(), domain.end());
  for (std::size_t begin = 0; begin < message.size(); begin += 16384) {
    const Digest digest = by_openssl(message.subspan(begin, std::min<std::size_t>(16384, message.size() - begin)));
    digests.insert(digests.end(), digest.begin(), digest.end());
  }
  return by_openssl(digests);
}

TEST(DatasetHash, is_what_the_page_says) {
  for (const std::size_t length : {0, 1, 16385, 1048575, 1048576, 1048577, 1048576 + 16384, 3 * 1048576 + 5}) {
    const std::vector<std::uint8_t> message = message_of(length);
    const auto bytes = std::as_bytes(std::span(message));
    EXPECT_EQ(dataset_digest(bytes), by_the_page(message)) << length;
    EXPECT_EQ(dataset_digest(bytes, blake2s_lanes), by_the_page(message)) << length;
    EXPECT_EQ(dataset_digest(bytes, blake2s_many), by_the_page(message)) << length;
  }
}

TEST(DatasetHash, parts_make_no_difference) {
  const std::vector<std::uint8_t> message = message_of(1048576 + 40000);
  for (const std::size_t part : {1000, 16383, 16384, 16385, 100000, 1048576}) {
    DatasetHash hash(message.size(), blake2s_lanes);
    for (std::span<const std::uint8_t> rest(message); !rest.empty(); rest = rest.subspan(std::min(part, rest.size()))) {
      hash.update(rest.first(std::min(part, rest.size())));
    }
    EXPECT_EQ(hash.digest(), by_the_page(message)) << part;
  }
}

TEST(DatasetHash, every_piece_counts) {
  std::vector<std::uint8_t> message = message_of(1048576 + 100);
  const Digest digest = dataset_digest(std::as_bytes(std::span(message)));
  for (const std::size_t place : {std::size_t{0}, std::size_t{16383}, std::size_t{16384}, message.size() - 1}) {
    message[place] ^= 1;
    EXPECT_NE(dataset_digest(std::as_bytes(std::span(message))), digest) << place;
    message[place] ^= 1;
  }
}

}  // namespace
}  // namespace tessera::test
