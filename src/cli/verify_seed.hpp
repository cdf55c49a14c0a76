#pragma once

#include <string>
#include <string_view>

#include "hash/blake2s.hpp"

namespace tessera::cli {

/// The 32 bytes of 64 hexadecimal digits that check_digest() has taken.
inline Digest digest_in(const std::string& digits) {
  Digest digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(std::stoul(digits.substr(2 * i, 2), nullptr, 16));
  }
  return digest;
}

/// The seed that a client's number and what a prover has committed to before it make together:
/// BLAKE2s-256("tessera seed" || opening || client's). The commitment is BLAKE2s-256(opening).
inline Digest joint_seed(const Digest& opening, const Digest& client) {
  constexpr std::string_view domain = "tessera seed";
  Blake2s hash;
  hash.update({reinterpret_cast<const std::uint8_t*>(domain.data()), domain.size()});
  hash.update(opening);
  hash.update(client);
  return hash.digest();
}

}  // namespace tessera::cli
