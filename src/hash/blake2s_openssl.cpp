#include "hash/blake2s.hpp"

#include <openssl/evp.h>

#include <memory>
#include <stdexcept>

namespace tessera {
namespace {

[[noreturn]] void fail() { throw std::runtime_error("BLAKE2s-256 is not available in OpenSSL"); }

/// Looked up once: to look an algorithm up takes several times as long as to hash a block by it.
const EVP_MD* algorithm() {
  static const EVP_MD* const found = EVP_MD_fetch(nullptr, "BLAKE2S-256", nullptr);
  return found != nullptr ? found : (fail(), nullptr);
}

using Context = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

}  // namespace

Digest blake2s(std::span<const std::uint8_t> message) {
  Digest digest;
  thread_local const Context context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  if (context == nullptr || EVP_DigestInit_ex(context.get(), algorithm(), nullptr) != 1 ||
      EVP_DigestUpdate(context.get(), message.data(), message.size()) != 1 ||
      EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) != 1) {
    fail();
  }
  return digest;
}

Blake2s::Blake2s() : context_(EVP_MD_CTX_new()) {
  if (context_ == nullptr || EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(context_), algorithm(), nullptr) != 1) {
    EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context_));
    fail();
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
