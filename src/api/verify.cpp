#include <tessera/archive.hpp>
#include <tessera/verify.hpp>

#include "archive/isolated.hpp"
#include "base/errors.hpp"
#include "protocol/protocol.hpp"

namespace tessera {

Verdict verify(std::span<const std::uint8_t> key, const Statement& statement, std::span<const std::uint8_t> payload) {
  return verify_inference(VerifyingKey::decode(key), statement, payload);
}

std::string decode(std::span<const std::uint8_t> key, std::span<const std::uint32_t> ids) {
  const VerifyingKey decoded = VerifyingKey::decode(key);
  std::string text;
  for (const std::uint32_t id : ids) {
    if (id >= decoded.tokenizer.vocabulary.size()) {
      throw InputError("token id: expected below " + std::to_string(decoded.tokenizer.vocabulary.size()) + ", found " +
                       std::to_string(id));
    }
    text += decoded.tokenizer.vocabulary[id];
  }
  return text;
}

std::vector<std::uint8_t> read_key(const std::filesystem::path& file) { return load_key_isolated(file).encode(); }

StoredProof read_proof(const std::filesystem::path& file) { return load_proof_isolated(file); }

}  // namespace tessera
