#include "tokenizer/decode.hpp"

namespace tessera {

std::string decode(const TokenizerData& data, std::span<const std::uint32_t> ids) {
  std::string bytes;
  for (const std::uint32_t id : ids) {
    check_token(id, data.vocabulary.size());
    bytes += data.vocabulary[id];
  }
  const bool unspaced = data.split == Split::whole && data.normalizer == Normalizer::none;
  if (falls_back(data.model) && !unspaced && bytes.starts_with(' ')) {
    bytes.erase(0, 1);
  }
  return bytes;
}

}  // namespace tessera
