#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "archive/hiding_files.hpp"
#include "parameters/table.hpp"
#include "plan/key.hpp"

namespace tessera::test {
namespace {

constexpr Digest secret{1}, parameters{2};

/// A key of which every field is encoded.
VerifyingKey key_of(const Layers& layers) {
  VerifyingKey key;
  key.shape = {2, 8, 2, 16, 10, 8, layers, 1, 4, false, true, true};
  key.exp_table.resize(2);
  key.gelu_table.resize(2);
  key.tokenizer.vocabulary.resize(10, "token");
  key.tokenizer.merges.resize(1);
  if (layers == rotary_layers) {
    key.rotary_table.resize(2);
    for (const EqualisedPlace& place : equalised_places(key.shape)) {
      key.equalisation[std::string(place.name)].resize(place.count);
    }
    key.tokenizer.model = TokenizerModel::byte_level;
    for (auto* const ids :
         {&key.tokenizer.byte_tokens, &key.tokenizer.added, &key.tokenizer.added_normalized, &key.tokenizer.prefix}) {
      ids->resize(1);
    }
  }
  key.hiding_proofs = 3;
  return key;
}

using Change = std::function<void(VerifyingKey&)>;

/// One that no other field hides, for every field that the key's architecture has.
std::vector<std::pair<std::string, Change>> changes_of(const VerifyingKey& key) {
  std::vector<std::pair<std::string, Change>> changes{
      {"version", [](VerifyingKey& k) { ++k.version; }},
      {"epsilon", [](VerifyingKey& k) { ++k.epsilon; }},
      {"exp_table", [](VerifyingKey& k) { ++k.exp_table[1]; }},
      {"gelu_table", [](VerifyingKey& k) { ++k.gelu_table[1]; }},
      {"vocabulary", [](VerifyingKey& k) { k.tokenizer.vocabulary[3] = "other"; }},
      {"merges", [](VerifyingKey& k) { ++k.tokenizer.merges[0].right; }},
      {"end_of_text", [](VerifyingKey& k) { ++k.tokenizer.end_of_text; }},
      {"ends",
       [](VerifyingKey& k) {
         k.tokenizer.ends = {3, k.tokenizer.end_of_text};
       }},
      {"chat_template", [](VerifyingKey& k) { k.tokenizer.chat.text = "{{ messages }}"; }},
      {"filler", [](VerifyingKey& k) { ++k.filler; }},
      {"log_rows", [](VerifyingKey& k) { ++k.parameter_oracle.log_rows; }},
      {"log_inverse_rate", [](VerifyingKey& k) { ++k.parameter_oracle.log_inverse_rate; }},
      {"absent_rows", [](VerifyingKey& k) { ++k.parameter_oracle.absent_rows; }},
      {"hiding_proofs", [](VerifyingKey& k) { ++k.hiding_proofs; }},
  };
  std::size_t count = 0;
  for_each_size(key.shape, [&](std::string_view, const auto&) { ++count; });
  for (std::size_t i = 0; i < count; ++i) {
    changes.emplace_back("size", [i](VerifyingKey& k) {
      std::size_t at = 0;
      for_each_size(k.shape, [&](std::string_view, auto& value) { value += at++ == i ? 1 : 0; });
    });
  }
  count = 0;
  for_each_exponent(key.shape, key.exponents, [&](std::string_view, const auto&) { ++count; });
  for (std::size_t i = 0; i < count; ++i) {
    changes.emplace_back("exponent", [i](VerifyingKey& k) {
      std::size_t at = 0;
      for_each_exponent(k.shape, k.exponents, [&](std::string_view, auto& value) { value += at++ == i ? 1 : 0; });
    });
  }
  if (!key.shape.rotary()) {
    return changes;
  }
  for (bool ModelShape::*const flag : {&ModelShape::tied, &ModelShape::qkv_bias}) {  // head_norm adds fields
    changes.emplace_back("flag", [flag](VerifyingKey& k) { k.shape.*flag = !(k.shape.*flag); });
  }
  for (const auto& [place, powers] : key.equalisation) {
    changes.emplace_back("powers", [name = place](VerifyingKey& k) { ++k.equalisation.at(name)[1]; });
  }
  for (auto TokenizerData::*const ids :
       {&TokenizerData::byte_tokens, &TokenizerData::added, &TokenizerData::added_normalized, &TokenizerData::prefix}) {
    changes.emplace_back("ids", [ids](VerifyingKey& k) { ++(k.tokenizer.*ids)[0]; });
  }
  const std::vector<std::pair<std::string, Change>> others{
      {"epsilon_q", [](VerifyingKey& k) { ++k.epsilon_q; }},
      {"epsilon_k", [](VerifyingKey& k) { ++k.epsilon_k; }},
      {"product_bits", [](VerifyingKey& k) { ++k.widths.product_bits; }},
      {"gate_bits", [](VerifyingKey& k) { ++k.widths.gate_bits; }},
      {"final_bits", [](VerifyingKey& k) { ++k.widths.final_bits; }},
      {"norm_shift", [](VerifyingKey& k) { ++k.widths.norm_shift; }},
      {"rotary_table", [](VerifyingKey& k) { ++k.rotary_table[1]; }},
      {"tokenizer", [](VerifyingKey& k) { k.tokenizer.model = TokenizerModel::byte_fallback; }},
      {"pre_tokenizer", [](VerifyingKey& k) { k.tokenizer.split = Split::qwen2; }},
      {"normalizer", [](VerifyingKey& k) { k.tokenizer.normalizer = Normalizer::nfc; }},
      {"ignore_merges", [](VerifyingKey& k) { k.tokenizer.ignore_merges = true; }},
  };
  changes.insert(changes.end(), others.begin(), others.end());
  return changes;
}

/// Commitments that share random elements share their root, by which uses are counted: whatever else differs, they do
/// not.
TEST(HidingSeed, differs_with_every_field_of_the_key) {
  for (const Layers& layers : {Layers{}, rotary_layers}) {
    const VerifyingKey key = key_of(layers);
    std::set<Digest> seeds{commitment_seed(secret, parameters, key)};
    for (const auto& [name, change] : changes_of(key)) {
      VerifyingKey changed = key;
      change(changed);
      EXPECT_TRUE(seeds.insert(commitment_seed(secret, parameters, changed)).second) << name;
    }
    EXPECT_TRUE(seeds.insert(commitment_seed(Digest{9}, parameters, key)).second);
    EXPECT_TRUE(seeds.insert(commitment_seed(secret, Digest{9}, key)).second);
  }
}

/// They are known before the root is.
TEST(HidingSeed, does_not_depend_on_the_root) {
  const VerifyingKey key = key_of(rotary_layers);
  VerifyingKey committed = key;
  committed.parameter_root = {7};
  EXPECT_EQ(commitment_seed(secret, parameters, key), commitment_seed(secret, parameters, committed));
}

}  // namespace
}  // namespace tessera::test
