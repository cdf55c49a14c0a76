#include "hash/blake2s.hpp"

#include <openssl/evp.h>

#include <stdexcept>

namespace tessera {

Digest blake2s(std::span<const std::uint8_t> message) {
  Digest digest;
  unsigned length = 0;
  static const EVP_MD* const algorithm = EVP_blake2s256();
  if (EVP_Digest(message.data(), message.size(), digest.data(), &length, algorithm, nullptr) != 1 ||
      length != digest.size()) {
    throw std::runtime_error("BLAKE2s-256 is not available in OpenSSL");
  }
  return digest;
}

Blake2s::Blake2s() : context_(EVP_MD_CTX_new()) {
  if (context_ == nullptr || EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(context_), EVP_blake2s256(), nullptr) != 1) {
    EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context_));
    throw std::runtime_error("BLAKE2s-256 is not available in OpenSSL");
  }
}

Blake2s::~Blake2s() { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context_)); }

void Blake2s::update(std::span<const std::uint8_t> part) {
  if (EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(context_), part.data(), part.size()) != 1) {
    throw std::runtime_error("BLAKE2s-256 failed");
  }
}

Digest Blake2s::digest() {
  Digest result;
  if (EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(context_), result.data(), nullptr) != 1) {
    throw std::runtime_error("BLAKE2s-256 failed");
  }
  return result;
}

}  // namespace tessera
