#pragma once

#include <cstring>
#include <string>

#include "transcript/verifier.hpp"

namespace tessera::test {

/// The transcript by its documented definition, hash inputs written out as byte strings.
class NaiveTranscript {
 public:
  explicit NaiveTranscript(const Digest& seed) : state(text(seed)) {}

  void absorb(const std::string& name, const std::string& data) {
    state = hash("\x01" + state + length(name.size()) + name + length(data.size()) + data);
  }
  std::string squeeze(const std::string& name) {
    state = hash("\x02" + state + length(name.size()) + name);
    return hash("\x03" + state);
  }
  E challenge(const std::string& name) {
    const std::string output = squeeze(name);
    return {half(output.substr(0, 16)), half(output.substr(16))};
  }
  [[nodiscard]] unsigned work(std::uint64_t nonce) const {
    const std::string digest = hash("\x04" + state + length(nonce));
    unsigned bits = 0;
    while (bits < 256 && ((static_cast<unsigned char>(digest[bits / 8]) << (bits % 8)) & 0x80) == 0) {
      ++bits;
    }
    return bits;
  }

  /// 8 bytes, little endian.
  static std::string length(std::uint64_t value) {
    std::string bytes;
    for (int i = 0; i < 8; ++i, value /= 256) {
      bytes.push_back(static_cast<char>(value % 256));
    }
    return bytes;
  }
  static std::string text(std::span<const std::uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }
  static std::string hash(const std::string& message) {
    const std::vector<std::uint8_t> bytes(message.begin(), message.end());
    return text(blake2s(bytes));
  }

  std::string state;

 private:
  /// A 16-byte little-endian number mod p.
  static F half(const std::string& bytes) {
    unsigned __int128 value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
      value = value * 256 + static_cast<unsigned char>(bytes[i]);
    }
    return F::from_canonical(static_cast<std::uint64_t>(value % F::modulus));
  }
};

}  // namespace tessera::test
