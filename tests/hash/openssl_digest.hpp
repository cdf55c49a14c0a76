#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <cstdint>
#include <span>

#include "hash/blake2s.hpp"

namespace tessera::test {

/// BLAKE2s-256 by OpenSSL, which the tests compare with.
inline Digest by_openssl(std::span<const std::uint8_t> message) {
  Digest digest{};
  EXPECT_EQ(EVP_Digest(message.data(), message.size(), digest.data(), nullptr, EVP_blake2s256(), nullptr), 1);
  return digest;
}

}  // namespace tessera::test
