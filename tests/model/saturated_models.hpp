#pragma once

#include "family_model.hpp"
#include "llama_shapes.hpp"

namespace tessera::test {

/// A random model whose exponents are too large for its values: some leave their range in every list of exceptions but
/// that of distances.
inline Model saturated_gpt2() {
  Model model = RandomModel(23).make({2, 36, 3, 144, 300, 48});
  Exponents& e = model.exponents;
  e[scales::u1] = e[scales::u2] = e[scales::uf] = e[scales::v] = e[scales::mlp] = 14;
  e[scales::q] = 15;
  e[scales::k] = 13;
  e[scales::score] = 12;
  e[wo] = 1;
  e[w2] = 2;
  model.parameters[bk].values()[5] = model.parameters[bk].values()[36 + 17] = 32767;  // 4: the edge of k
  return model;
}

/// Large queries of one head, and keys that differ: distances leave the table, nothing else any range.
inline Model distant_gpt2() {
  Model model = RandomModel(11).make({2, 36, 3, 144, 300, 48});
  for (std::size_t place = 24; place < 36; ++place) {
    model.parameters[bq].values()[36 + place] = 20000;
  }
  model.exponents[bq] = model.exponents[scales::score] = 12;
  return model;
}

/// The same as saturated_gpt2() of one of llama_shapes().
inline Model saturated_llama(std::size_t kind) {
  const ModelShape shape = llama_shapes()[kind];
  const auto bits = static_cast<std::uint32_t>(16 + 4 * kind);
  Model model = RandomModel(300 + kind).make(shape, Widths{bits});
  Exponents& e = model.exponents;
  e[scales::u1] = e[scales::u2] = e[scales::uf] = e[scales::v] = e[scales::mlp] = 14;
  e[scales::q] = e[scales::k] = 14;
  e[scales::score] = 12;
  e[wo] = 1;
  e[scales::product] = static_cast<int>(bits) - 1;
  e[w_down] = -1;
  model.parameters[gammaf].values()[2] = 32767;  // 4
  if (shape.head_norm) {
    e[scales::hq] = 13;
    e[scales::hk] = 14;
    model.parameters[gamma_q].values()[1] = model.parameters[gamma_k].values()[1] = 32767;  // 2 and 8
  }
  if (shape.qkv_bias) {
    model.parameters[bk].values()[2] = 32767;
  }
  for (std::size_t id = 0; id < shape.n_vocab; ++id) {
    model.tokenizer.vocabulary.emplace_back(1, static_cast<char>('a' + id));
  }
  model.tokenizer.end_of_text = static_cast<std::uint32_t>(shape.n_vocab - 1);
  return model;
}

/// The same of other families.
inline Model saturated_family(FamilyKind kind) {
  Model model = random_family(kind);
  const ModelShape& shape = model.shape;
  Exponents& e = model.exponents;
  e[scales::u1] = e[scales::u2] = shape.norm_before() ? 14 : 11;  // without norms they are the stream
  e[scales::uf] = e[scales::v] = e[scales::q] = e[scales::k] = e[scales::mlp] = 14;
  e[wo] = 1;
  (shape.score_cap ? e[scales::uncapped] : e[scales::score]) = shape.score_cap ? 14 : 12;
  if (shape.gated()) {
    e[scales::product] = 15;
    e[w_down] = 1;
  } else {
    e[w2] = 3;
  }
  if (shape.head_norm) {
    e[scales::hq] = e[scales::hk] = 14;
    e[gamma_q] = e[gamma_k] = 12;
  }
  if (shape.norm_after()) {  // whose inputs have 20 bits
    e[wo] = e[w_down] = 10;
    e[scales::ho] = e[scales::hm] = 18;
    e[gamma_o] = e[gamma_m] = 0;
  }
  return model;
}

/// Large queries: distances leave the table, nothing else any range.
inline Model distant_family(FamilyKind kind) {
  Model model = random_family(kind);
  Exponents& e = model.exponents;
  (model.shape.head_norm ? e[gamma_q] : e[wq]) -= 4;
  e[bq] -= model.shape.qkv_bias ? 4 : 0;
  e[scales::q] -= 4;
  e[scales::score] = 12;
  return model;
}

}  // namespace tessera::test
