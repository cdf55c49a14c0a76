#include <gtest/gtest.h>

#include <openssl/evp.h>

#include <array>
#include <thread>
#include <vector>

#include "hash/keyed_stream.hpp"

namespace tessera::test {
namespace {

/// AES-256 in counter mode as OpenSSL has it, from the first block on.
std::vector<std::uint64_t> counter_mode(const Digest& seed, std::string_view purpose, std::size_t words) {
  std::vector<std::uint8_t> message{6};
  message.insert(message.end(), seed.begin(), seed.end());
  message.insert(message.end(), purpose.begin(), purpose.end());
  const Digest key = blake2s(message);
  std::vector<std::uint64_t> stream(words);
  const std::array<std::uint8_t, 16> counter{};
  EVP_CIPHER_CTX* const context = EVP_CIPHER_CTX_new();
  auto* const bytes = reinterpret_cast<std::uint8_t*>(stream.data());
  int written = 0;
  EXPECT_EQ(EVP_EncryptInit_ex(context, EVP_aes_256_ctr(), nullptr, key.data(), counter.data()), 1);
  EXPECT_EQ(EVP_EncryptUpdate(context, bytes, &written, bytes, static_cast<int>(8 * words)), 1);
  EVP_CIPHER_CTX_free(context);
  return stream;
}

TEST(KeyedStream, is_counter_mode_whatever_part_is_asked_for) {
  const Digest seed{3, 1, 4};
  const KeyedStream stream(seed, "purpose");
  const std::vector<std::uint64_t> words = counter_mode(seed, "purpose", 5000);  // no word of these is no element
  for (const std::size_t first : {0, 1, 2, 511, 512, 513, 3999}) {
    for (const std::size_t count : {0, 1, 2, 3, 511, 512, 513, 1001}) {
      std::vector<F> found(count);
      stream.elements(first, std::span<F>(found));
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(found[i].value(), words[first + i]) << first << " + " << i << " of " << count;
      }
    }
  }
}

TEST(KeyedStream, serves_many_threads_at_once) {
  const KeyedStream stream(Digest{5}, "purpose");
  std::vector<F> expected(1 << 14);
  stream.elements(0, std::span<F>(expected));
  std::vector<std::vector<F>> found(40, std::vector<F>(expected.size()));
  std::vector<std::thread> threads;
  for (std::vector<F>& elements : found) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < elements.size(); i += 16) {
        stream.elements(i, std::span(elements).subspan(i, 16));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::vector<F>& elements : found) {
    EXPECT_EQ(elements, expected);
  }
}

}  // namespace
}  // namespace tessera::test
