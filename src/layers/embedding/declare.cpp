#include "layers/embedding/embedding.hpp"

#include <stdexcept>

namespace tessera {

EmbeddingPlan EmbeddingPlan::declare(Builder& builder, EmbeddingSpec spec) {
  EmbeddingPlan embedding;
  static_cast<EmbeddingSpec&>(embedding) = std::move(spec);
  if (embedding.shift > 0) {
    if (embedding.position) {
      throw std::logic_error("embedding: a shift where there are positions");
    }
    embedding.remainder =
        builder.update_remainder<std::uint16_t>("embedding_remainder", embedding.rows, {0}, embedding.shift);
  }
  return embedding;
}

}  // namespace tessera
