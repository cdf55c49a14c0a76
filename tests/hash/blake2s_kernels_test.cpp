#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "hash/blake2s_constants.hpp"
#include "hash/blake2s_kernels.hpp"

#include "openssl_digest.hpp"

namespace tessera::test {
namespace {

std::vector<std::uint8_t> random_bytes(std::size_t count) {
  std::mt19937 random(1);
  std::vector<std::uint8_t> bytes(count);
  std::ranges::generate(bytes, [&] { return static_cast<std::uint8_t>(random()); });
  return bytes;
}

/// Around the ends of blocks and of a dataset's pieces.
std::vector<std::size_t> lengths() {
  std::vector<std::size_t> lengths;
  for (std::size_t length = 0; length <= 200; ++length) {
    lengths.push_back(length);
  }
  for (const std::size_t end : {256, 1024, 16384}) {
    for (std::size_t length = end - 65; length <= end + 65; length += end == 16384 ? 13 : 1) {
      lengths.push_back(length);
    }
  }
  lengths.push_back(16384);
  return lengths;
}

/// What blake2s() would give if it took blocks as these kernels do.
Digest by_compressing(const Blake2sKernels& kernels, std::span<const std::uint8_t> message) {
  std::array<std::uint32_t, 8> state = blake2s_initial;
  state[0] = blake2s_first_word;
  const std::size_t before_last = message.empty() ? 0 : (message.size() - 1) / 64 * 64;
  kernels.compress(state.data(), message.first(before_last), 64, false);
  std::array<std::uint8_t, 64> end{};
  std::ranges::copy(message.subspan(before_last), end.begin());
  kernels.compress(state.data(), end, message.size(), true);
  Digest digest;
  std::memcpy(digest.data(), state.data(), sizeof digest);
  return digest;
}

TEST(Blake2sKernels, have_the_basic_ones_first) {
  ASSERT_FALSE(blake2s_kernels().empty());
  EXPECT_EQ(blake2s_kernels().front().name, "words");
#if defined(__x86_64__) || defined(__aarch64__)
  ASSERT_GE(blake2s_kernels().size(), 2U);
  EXPECT_EQ(blake2s_kernels()[1].lanes, 4U);
#endif
}

TEST(Blake2sKernels, take_messages_of_any_length) {
  const std::vector<std::uint8_t> message = random_bytes(16500);
  for (const Blake2sKernels& kernels : blake2s_kernels()) {
    for (const std::size_t length : lengths()) {
      const auto part = std::span(message).first(length);
      ASSERT_EQ(by_compressing(kernels, part), by_openssl(part)) << kernels.name << ", " << length << " bytes";
    }
  }
}

/// The last of many blocks may be the message's, too.
TEST(Blake2sKernels, end_with_the_last_of_many_blocks) {
  const std::vector<std::uint8_t> message = random_bytes(320);
  for (const Blake2sKernels& kernels : blake2s_kernels()) {
    std::array<std::uint32_t, 8> state = blake2s_initial;
    state[0] = blake2s_first_word;
    kernels.compress(state.data(), message, 64, true);
    EXPECT_EQ(std::memcmp(state.data(), by_openssl(message).data(), sizeof state), 0) << kernels.name;
  }
}

/// The number of bytes has 64 bits.
TEST(Blake2sKernels, count_beyond32_bits) {
  const std::vector<std::uint8_t> message = random_bytes(256);
  std::array<std::uint32_t, 8> expected = blake2s_initial;
  blake2s_kernels().front().compress(expected.data(), message, (std::uint64_t{5} << 32U) - 64, false);
  for (const Blake2sKernels& kernels : blake2s_kernels()) {
    std::array<std::uint32_t, 8> state = blake2s_initial;
    kernels.compress(state.data(), message, (std::uint64_t{5} << 32U) - 64, false);
    EXPECT_EQ(state, expected) << kernels.name;
  }
}

TEST(Blake2sKernels, hash_side_by_side_what_they_hash_alone) {
  constexpr std::size_t most = 19;
  for (const Blake2sKernels& kernels : blake2s_kernels()) {
    for (const std::size_t length : lengths()) {
      const std::size_t count = length > 1100 ? 8 : most;
      const std::vector<std::uint8_t> messages = random_bytes(count * length);
      std::vector<Digest> digests(count);
      blake2s_each(kernels, messages, length, digests);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(digests[i], by_openssl(std::span(messages).subspan(i * length, length)))
            << kernels.name << ", message " << i << " of " << length << " bytes";
      }
    }
  }
}

TEST(Blake2sKernels, hash_any_number_of_messages) {
  constexpr std::size_t length = 100;
  const std::vector<std::uint8_t> messages = random_bytes(40 * length);
  for (const Blake2sKernels& kernels : blake2s_kernels()) {
    for (std::size_t count = 0; count <= 40; ++count) {
      std::vector<Digest> digests(count + 1);  // one more, which must stay
      blake2s_each(kernels, std::span(messages).first(count * length), length, std::span(digests).first(count));
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(digests[i], by_openssl(std::span(messages).subspan(i * length, length))) << kernels.name;
      }
      EXPECT_EQ(digests.back(), Digest{}) << kernels.name;
    }
  }
}

}  // namespace
}  // namespace tessera::test
