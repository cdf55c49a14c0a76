#include "protocol/identified_key.hpp"

#include <algorithm>
#if !defined(__EMSCRIPTEN__)
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#endif

namespace tessera {
namespace {

#if !defined(__EMSCRIPTEN__)

/// Bytes of a key from which on another thread is worth its beginning.
constexpr std::size_t long_key = std::size_t{1} << 22U;

/// The digest of bytes, made by a thread while others work.
class DigestBeside {
 public:
  /// Throws std::system_error where no thread can begin.
  explicit DigestBeside(std::span<const std::uint8_t> bytes) : thread_([this, bytes]() noexcept { hash(bytes); }) {}
  DigestBeside(const DigestBeside&) = delete;  // the thread knows where this is
  DigestBeside& operator=(const DigestBeside&) = delete;
  /// Nothing if there was no memory for it.
  std::optional<Digest> digest() {
    thread_.join();
    return digest_;
  }

 private:
  void hash(std::span<const std::uint8_t> bytes) noexcept {
    try {
      digest_ = key_digest(bytes);
    } catch (const std::bad_alloc&) {  // thrown again where it is made afterwards
    }
  }

  std::optional<Digest> digest_;
  std::jthread thread_;  // the last member: what it writes to is there before and after it
};

/// Begins the digest of a long key; nothing of a short one, or where no thread can begin.
void begin_digest(std::optional<DigestBeside>& beside, std::span<const std::uint8_t> bytes) {
  if (bytes.size() < long_key) {
    return;
  }
  try {
    beside.emplace(bytes);
  } catch (const std::system_error&) {  // then it is made afterwards
  }
}

#endif

}  // namespace

#if defined(__EMSCRIPTEN__)
IdentifiedKey IdentifiedKey::decode(std::span<const std::uint8_t> bytes) {
  return {VerifyingKey::decode(bytes), key_digest(bytes)};  // no other bytes give this key
}
#else
IdentifiedKey IdentifiedKey::decode(std::span<const std::uint8_t> bytes) {
  std::optional<DigestBeside> beside;
  begin_digest(beside, bytes);
  IdentifiedKey key{VerifyingKey::decode(bytes), {}};
  const std::optional<Digest> made = beside ? beside->digest() : std::nullopt;
  key.digest = made ? *made : key_digest(bytes);  // no other bytes give this key
  return key;
}
#endif

}  // namespace tessera
