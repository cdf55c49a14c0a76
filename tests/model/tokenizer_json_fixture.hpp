#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "checkpoints/tokenizer_files.hpp"

#include "model_files.hpp"

namespace tessera::test {

/// Of the Llama family, whose tokenizers stay what their files call them.
inline ModelShape llama_of(std::size_t vocabulary) {
  ModelShape shape;
  shape.layers = rotary_layers;
  shape.n_vocab = vocabulary;
  return shape;
}

inline nlohmann::json added_token(std::uint32_t id, const std::string& content, bool normalized = false) {
  return {{"id", id},        {"content", content},       {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", normalized}, {"special", true}};
}

inline nlohmann::json prefix_template(const std::string& token, std::uint32_t id) {
  return {
      {"type", "TemplateProcessing"},
      {"single", {{{"SpecialToken", {{"id", token}, {"type_id", 0}}}}, {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}},
      {"pair", nlohmann::json::array()},
      {"special_tokens", {{token, {{"id", token}, {"ids", {id}}, {"tokens", {token}}}}}}};
}

class TokenizerJson : public testing::Test {
 protected:
  [[nodiscard]] TokenizerData load(std::size_t vocabulary = 300, std::optional<std::uint32_t> end = 2) const {
    write_file(folder_.path() / "tokenizer.json", root_.dump());
    return load_tokenizer(folder_.path(), llama_of(vocabulary), end);
  }
  void expect_refused(const std::string& part) const {
    expect_input_error([&] { (void)load(); }, part);
  }
  /// Refused with this change, which stays for this call alone.
  void expect_refused(const std::string& part, const std::function<void(nlohmann::json&)>& change) {
    const nlohmann::json before = root_;
    change(root_);
    expect_refused(part);
    root_ = before;
  }

  TemporaryFolder folder_;
  nlohmann::json root_;
};

/// Llama 2's form with a handful of tokens: ids 0..2 special, 3..258 bytes.
class SentencePiece : public TokenizerJson {
 protected:
  SentencePiece() {
    nlohmann::json vocabulary = {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}};
    for (unsigned byte = 0; byte < 256; ++byte) {
      std::array<char, 8> name{};
      std::snprintf(name.data(), name.size(), "<0x%02X>", byte);
      vocabulary[name.data()] = 3 + byte;
    }
    std::uint32_t id = 259;
    for (const char* token : {"\u2581", "a", "b", "c", "\u2581a", "bc", "\u2581abc", "\u2581\u2581"}) {
      vocabulary[token] = id++;
    }
    root_ = {{"version", "1.0"},
             {"truncation", nullptr},
             {"padding", nullptr},
             {"added_tokens", {added_token(0, "<unk>"), added_token(1, "<s>"), added_token(2, "</s>")}},
             {"normalizer",
              {{"type", "Sequence"},
               {"normalizers",
                {{{"type", "Prepend"}, {"prepend", "\u2581"}},
                 {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}}}}}},
             {"pre_tokenizer", nullptr},
             {"post_processor", prefix_template("<s>", 1)},
             {"decoder",
              {{"type", "Sequence"},
               {"decoders",
                {{{"type", "Replace"}, {"pattern", {{"String", "\u2581"}}}, {"content", " "}},
                 nlohmann::json{{"type", "ByteFallback"}},
                 nlohmann::json{{"type", "Fuse"}},
                 {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}}},
             {"model",
              {{"type", "BPE"},
               {"dropout", nullptr},
               {"unk_token", "<unk>"},
               {"continuing_subword_prefix", nullptr},
               {"end_of_word_suffix", nullptr},
               {"fuse_unk", true},
               {"byte_fallback", true},
               {"vocab", vocabulary},
               {"merges", {"\u2581 a", "b c", "\u2581a bc", "\u2581 \u2581"}}}}};
  }
};

}  // namespace tessera::test
