#include "hash/keyed_stream.hpp"

#include <openssl/evp.h>
#include <openssl/crypto.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <stdexcept>
#include <vector>

#include "base/errors.hpp"

namespace tessera {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::size_t block = 16;
constexpr std::size_t buffer_words = 4096;

[[noreturn]] void fail() { throw std::runtime_error("AES-256-CTR failed in OpenSSL"); }

Digest stream_key(const Digest& seed, std::string_view purpose) {
  std::vector<std::uint8_t> message{6};
  message.insert(message.end(), seed.begin(), seed.end());
  message.insert(message.end(), purpose.begin(), purpose.end());
  const Digest key = blake2s(message);
  OPENSSL_cleanse(message.data(), message.size());
  return key;
}

}  // namespace

struct KeyedStream::Cipher {
  using Context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

  Cipher(const Digest& seed, std::string_view purpose) : keyed(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free) {
    Digest key = stream_key(seed, purpose);
    const bool done =
        keyed != nullptr && EVP_EncryptInit_ex(keyed.get(), EVP_aes_256_ctr(), nullptr, key.data(), nullptr) == 1;
    OPENSSL_cleanse(key.data(), key.size());
    if (!done) {
      fail();
    }
  }

  /// Words first, first + 1, ..; first is even. Threads make them side by side, each with a copy.
  void words(std::uint64_t first, std::span<std::uint64_t> to) const {
    const Context context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
    std::array<std::uint8_t, block> counter{};
    const std::uint64_t number = first / 2;
    for (std::size_t i = 0; i < 8; ++i) {
      counter[block - 1 - i] = static_cast<std::uint8_t>(number >> (8 * i));
    }
    std::ranges::fill(to, 0);
    int written = 0;
    auto* bytes = reinterpret_cast<std::uint8_t*>(to.data());
    if (context == nullptr || EVP_CIPHER_CTX_copy(context.get(), keyed.get()) != 1 ||
        EVP_EncryptInit_ex(context.get(), nullptr, nullptr, nullptr, counter.data()) != 1 ||
        EVP_EncryptUpdate(context.get(), bytes, &written, bytes, static_cast<int>(to.size_bytes())) != 1) {
      fail();
    }
  }

  Context keyed;
};

KeyedStream::KeyedStream(const Digest& seed, std::string_view purpose)
    : seed_(seed), purpose_(purpose), cipher_(std::make_unique<Cipher>(seed, purpose)) {}
KeyedStream::KeyedStream(KeyedStream&&) noexcept = default;
KeyedStream::~KeyedStream() { OPENSSL_cleanse(seed_.data(), seed_.size()); }

void KeyedStream::elements(std::uint64_t first, std::span<F> to) const {
  std::vector<std::uint64_t> words(std::min(to.size() + 2, buffer_words));
  for (std::size_t done = 0; done < to.size();) {
    const std::uint64_t place = first + done;
    const std::size_t skip = place % 2;
    const std::size_t count = std::min(to.size() - done, words.size() - skip);
    const std::span<std::uint64_t> part = std::span(words).first(skip + count);
    cipher_->words(place - skip, part);
    for (std::size_t i = 0; i < count; ++i) {
      if (part[skip + i] < F::modulus) {
        to[done + i] = F::from_canonical(part[skip + i]);
      } else {  // once in 2^32
        KeyedStream(seed_, purpose_ + "'").elements(place + i, to.subspan(done + i, 1));
      }
    }
    done += count;
  }
  OPENSSL_cleanse(words.data(), words.size() * sizeof words[0]);
}

void KeyedStream::elements(std::uint64_t first, std::span<E> to) const {
  static_assert(sizeof(E) == 2 * sizeof(F));
  elements(2 * first, std::span(reinterpret_cast<F*>(to.data()), 2 * to.size()));
}

Digest random_seed() {
  Digest seed;
  std::size_t done = 0;
  while (done < seed.size()) {
    const ssize_t found = ::getrandom(seed.data() + done, seed.size() - done, 0);
    if (found < 0 && errno != EINTR) {
      throw JobError("random numbers: the operating system gives none");
    }
    done += found > 0 ? static_cast<std::size_t>(found) : 0;
  }
  return seed;
}

}  // namespace tessera
