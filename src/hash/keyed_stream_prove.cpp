#include "hash/keyed_stream.hpp"

#include <openssl/evp.h>
#include <openssl/crypto.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "base/errors.hpp"

namespace tessera {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::size_t words_at_once = 512;  // an even number

[[noreturn]] void fail() { throw std::runtime_error("AES-256 failed in OpenSSL"); }

Digest stream_key(const Digest& seed, std::string_view purpose) {
  std::vector<std::uint8_t> message{6};
  message.insert(message.end(), seed.begin(), seed.end());
  message.insert(message.end(), purpose.begin(), purpose.end());
  const Digest key = blake2s(message);
  OPENSSL_cleanse(message.data(), message.size());
  return key;
}

/// A number of the calling thread: equal in all its calls, and different for different threads while they are few.
std::size_t number_of_thread() {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t number = threads++;
  return number;
}

}  // namespace

/// Blocks of the counter, encrypted one by one. A context serves one thread at a time, and a new one costs more than a
/// short run of words: some are kept.
struct KeyedStream::Cipher {
  using Context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

  Cipher(const Digest& seed, std::string_view purpose) : keyed(fresh()) {
    Digest key = stream_key(seed, purpose);
    const bool done = EVP_EncryptInit_ex(keyed.get(), EVP_aes_256_ecb(), nullptr, key.data(), nullptr) == 1;
    OPENSSL_cleanse(key.data(), key.size());
    if (!done) {
      fail();
    }
  }

  /// Words first, first + 1, ..; first and their number are even.
  void words(std::uint64_t first, std::span<std::uint64_t> to) const {
    for (std::size_t i = 0; i < to.size(); i += 2) {
      to[i] = 0;
      to[i + 1] = __builtin_bswap64((first + i) / 2);
    }
    Kept& kept = contexts[number_of_thread() % contexts.size()];
    const std::unique_lock mine(kept.mutex, std::try_to_lock);
    if (!mine) {
      encrypt(*copy(), to);
      return;
    }
    if (kept.context == nullptr) {
      kept.context = copy();
    }
    encrypt(*kept.context, to);
  }

 private:
  struct Kept {
    std::mutex mutex;
    Context context{nullptr, &EVP_CIPHER_CTX_free};
  };

  static Context fresh() {
    Context context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
    if (context == nullptr) {
      fail();
    }
    return context;
  }
  [[nodiscard]] Context copy() const {
    Context context = fresh();
    if (EVP_CIPHER_CTX_copy(context.get(), keyed.get()) != 1 || EVP_CIPHER_CTX_set_padding(context.get(), 0) != 1) {
      fail();
    }
    return context;
  }
  static void encrypt(EVP_CIPHER_CTX& context, std::span<std::uint64_t> words) {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(words.data());
    const int size = static_cast<int>(words.size_bytes());
    int written = 0;
    if (EVP_EncryptUpdate(&context, bytes, &written, bytes, size) != 1 || written != size) {
      fail();
    }
  }

  Context keyed;
  mutable std::array<Kept, 16> contexts;
};

KeyedStream::KeyedStream(const Digest& seed, std::string_view purpose)
    : seed_(seed), purpose_(purpose), cipher_(std::make_unique<Cipher>(seed, purpose)) {}
KeyedStream::KeyedStream(KeyedStream&&) noexcept = default;
KeyedStream::~KeyedStream() { OPENSSL_cleanse(seed_.data(), seed_.size()); }

void KeyedStream::elements(std::uint64_t first, std::span<F> to) const {
  std::array<std::uint64_t, words_at_once> words;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
  std::size_t most = 0;
  for (std::size_t done = 0; done < to.size();) {
    const std::uint64_t place = first + done;
    const std::size_t skip = place % 2;
    const std::size_t count = std::min(to.size() - done, words.size() - skip);
    const std::size_t made = (skip + count + 1) / 2 * 2;
    cipher_->words(place - skip, std::span(words).first(made));
    most = std::max(most, made);
    for (std::size_t i = 0; i < count; ++i) {
      if (words[skip + i] < F::modulus) {
        to[done + i] = F::from_canonical(words[skip + i]);
      } else {  // once in 2^32
        KeyedStream(seed_, purpose_ + "'").elements(place + i, to.subspan(done + i, 1));
      }
    }
    done += count;
  }
  OPENSSL_cleanse(words.data(), most * sizeof words[0]);
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
