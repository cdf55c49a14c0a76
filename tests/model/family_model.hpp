#pragma once

#include "family_shapes.hpp"
#include "random_model.hpp"

namespace tessera::test {

/// A random model of the family, with a vocabulary.
inline Model random_family(FamilyKind kind) {
  const ModelShape shape = family_shape(kind);
  Model model = RandomModel(300 + kind).make(shape, RandomModel::widths_of(shape));
  for (std::size_t id = 0; id < shape.n_vocab; ++id) {
    model.tokenizer.vocabulary.emplace_back(1, static_cast<char>('!' + id));
  }
  model.tokenizer.end_of_text = static_cast<std::uint32_t>(shape.n_vocab - 1);
  return model;
}

}  // namespace tessera::test
