#pragma once

#include <cmath>
#include "archive/proof_file.hpp"
#include "integer_model/model.hpp"

namespace tessera::test {

inline ModelShape small_shape() { return {2, 12, 3, 20, 30, 16}; }

/// Exponents whose shifts are all in range.
inline Exponents valid_exponents() {
  Exponents e;
  e[scales::u1] = e[scales::u2] = e[scales::uf] = 11;
  e[scales::q] = e[scales::k] = e[scales::v] = 10;
  e[scales::score] = 8;
  e[scales::mlp] = e[scales::gelu] = 10;
  e[wq] = e[wk] = e[wv] = e[wo] = e[w1] = e[w2] = 14;
  e[bq] = e[bk] = e[bv] = e[bo] = e[b1] = e[b2] = 12;
  e[gamma1] = e[gamma2] = e[gammaf] = 12;
  e[beta1] = e[beta2] = e[betaf] = 12;
  return e;
}

inline Model small_model() {
  Model model;
  model.shape = small_shape();
  model.exponents = valid_exponents();
  model.calibration.maxima = {{"q", 3.5}, {"residual", 12.25}};
  int value = -100;
  model.parameters = Parameters(model.shape);
  for (const ParameterRow& row : parameter_table(model.shape)) {
    for (std::int16_t& entry : model.parameters[row.id].values()) {
      entry = static_cast<std::int16_t>(value = (value * 31 + 7) % 32749);
    }
  }
  for (std::size_t i = 0; i < model.shape.n_vocab; ++i) {
    model.tokenizer.vocabulary.push_back(std::string(i % 4, static_cast<char>(i)) + "\xff");
  }
  model.tokenizer.merges = {{1, 2}, {7, 3}};
  model.tokenizer.end_of_text = 29;
  return model;
}

inline VerifyingKey small_key() {
  const Model model = small_model();
  VerifyingKey key;
  key.shape = model.shape;
  key.epsilon = IntegerConstants::of(model.shape, 1e-5).epsilon;
  key.exponents = model.exponents;
  const unsigned kappa = IntegerConstants::of(model.shape, 1e-5).kappa;
  for (int d = 0; d < 1 << 16; ++d) {
    const double real = std::exp(-d * std::exp2(-model.exponents[scales::score]));
    key.exp_table.push_back(static_cast<std::int32_t>(std::llround(32768 * real) << kappa) + (d == 0 ? 1 : 0));
    key.gelu_table.push_back(static_cast<std::int16_t>(std::max(0, d - (1 << 15))));
  }
  key.tokenizer = model.tokenizer;
  key.filler = 29;
  for (std::size_t i = 0; i < key.parameter_root.size(); ++i) {
    key.parameter_root[i] = static_cast<std::uint8_t>(i + 1);
  }
  return key;
}

/// A tokenizer of 300 ids with every field of its model in use.
inline TokenizerData large_tokenizer(TokenizerModel model) {
  TokenizerData data;
  for (int byte = 0; byte < 256; ++byte) {
    data.vocabulary.emplace_back(1, static_cast<char>(byte));
  }
  data.vocabulary.insert(data.vocabulary.end(), {"a", "b", "ab", "<s>", "</s>", "<x>"});
  data.vocabulary.resize(300);
  data.model = model;
  data.merges = {{256, 257}};
  data.end_of_text = 260;
  if (model == TokenizerModel::gpt2) {
    return data;
  }
  data.added = {259, 260};
  data.added_normalized = {261};
  data.prefix = {259};
  data.ignore_merges = true;
  data.split = Split::llama3;
  data.normalizer = Normalizer::nfc;
  if (model == TokenizerModel::tied_fallback) {
    data.vocabulary[262] = "ba";
    data.merges.push_back({257, 256});
    data.tied = {1};
  }
  if (falls_back(model)) {
    data.split = Split::whole;
    data.normalizer = Normalizer::prepend_space;
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      data.byte_tokens.push_back(byte);
    }
  }
  return data;
}

inline ProofArchive small_proof() {
  ProofArchive proof;
  proof.statement = {{1, 2, 3}, {4, 5}};
  for (int i = 0; i < 3000; ++i) {
    proof.payload.push_back(static_cast<std::uint8_t>(i * i));
  }
  proof.key_digest.fill(7);
  proof.text = std::string("a\0b\xff", 4);
  proof.configuration = R"({"generate":"2"})";
  proof.soundness.entries = {{"/opening", "queries", 101.5}, {"/lookup", "poles", 100.25}};
  proof.timings = {{"/commit", 0.5, 4096}, {"/lookup/group", 0.25, std::uint64_t{1} << 40}};
  proof.memory_measure = "high-water mark";
  proof.machine = {2, 3, 1234567};
  proof.ranks = {{"a processor", {0.5, 0.25}, {4096, 8192}}, {"another one", {0.75, 0.125}, {0, 1}}};
  proof.communication = {{"/", 12, {100, 200}, {300, 400}}, {"/lookup", 5, {10, 20}, {30, 40}}};
  proof.ownership = {{"H heads", "q k", 6, 1, {0, 3, 6}}, {"V vocabulary rows", "embedding", 500, 256, {0, 256, 500}}};
  proof.hosts = {"one", "another"};
  return proof;
}

}  // namespace tessera::test
