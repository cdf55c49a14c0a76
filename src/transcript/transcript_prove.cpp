#include "base/little_endian.hpp"
#include "field/encoding.hpp"
#include "hash/merkle_tree.hpp"
#include "transcript/transcript.hpp"

namespace tessera {

void ProverTranscript::append(std::string_view label, std::span<const std::uint8_t> bytes) {
  absorb(label, bytes);
  messages_.push_back({path(), std::string(label), payload_.size(), bytes.size()});
  payload_.insert(payload_.end(), bytes.begin(), bytes.end());
}

void ProverTranscript::send(std::string_view label, std::span<const E> values) { append(label, encode(values)); }

void ProverTranscript::send(std::string_view label, std::span<const F> values) { append(label, encode(values)); }

void ProverTranscript::send(std::string_view label, const Digest& digest) { append(label, digest); }

void ProverTranscript::send(std::string_view label, std::span<const Digest> digests) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(digests.size() * sizeof(Digest));
  for (const Digest& digest : digests) {
    bytes.insert(bytes.end(), digest.begin(), digest.end());
  }
  append(label, bytes);
}

void ProverTranscript::grind(std::string_view label, unsigned bits) {
  std::vector<std::uint8_t> bytes;
  append_little_endian(bytes, find_nonce(state(), bits));
  append(label, bytes);
}

}  // namespace tessera
