#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "checkpoints/tokenizer_files.hpp"

#include "model_files.hpp"

namespace tessera::test {

inline nlohmann::json folder_token(std::uint32_t id, const std::string& content, bool normalized = false) {
  return {{"id", id},        {"content", content},       {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", normalized}, {"special", true}};
}

/// Files of odd-40k, a GPT-2, and a tokenizer.json that says the same. Ids of texts are those that AutoTokenizer of
/// transformers 4.57.1 and 5.24.0 finds; where the two differ, those of 4.57.1.
class TokenizerFolderTest : public testing::Test {
 protected:
  TokenizerFolderTest() {
    config_ = nlohmann::json::parse(file_bytes(model_folder("odd-40k") / "config.json"));
    for (const char* name : {"vocab.json", "merges.txt"}) {
      std::filesystem::copy(model_folder("odd-40k") / name, folder_.path() / name);
    }
    nlohmann::json merges = nlohmann::json::array();
    std::istringstream lines(file_bytes(model_folder("odd-40k") / "merges.txt"));
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with('#')) {
        merges.push_back(line);
      }
    }
    const nlohmann::json level = {
        {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
    root_ = {{"version", "1.0"},
             {"truncation", nullptr},
             {"padding", nullptr},
             {"added_tokens", {folder_token(299, "<|endoftext|>", true)}},
             {"normalizer", nullptr},
             {"pre_tokenizer", level},
             {"post_processor", level},
             {"decoder", level},
             {"model",
              {{"type", "BPE"},
               {"vocab", nlohmann::json::parse(file_bytes(model_folder("odd-40k") / "vocab.json"))},
               {"merges", merges}}}};
  }
  void put(const std::string& name, const nlohmann::json& value) const {
    write_file(folder_.path() / name, value.dump());
  }
  void remove(const std::string& name) const { std::filesystem::remove(folder_.path() / name); }
  TokenizerData load(std::size_t vocabulary = 300) {
    put("config.json", config_);
    notes_.clear();
    ModelShape shape;
    shape.n_vocab = vocabulary;
    shape.layers = config_["model_type"] == "gpt2" ? Layers{} : rotary_layers;
    return load_tokenizer(folder_.path(), shape, {}, &notes_);
  }
  std::vector<std::uint32_t> encode(const std::string& text, std::size_t vocabulary = 300) {
    return Tokenizer(load(vocabulary)).encode_prompt(text);
  }
  void expect_refused(const std::string& part) {
    expect_input_error([&] { (void)load(); }, part);
  }
  /// A tokenizer.json of the Llama family in place of GPT-2's files.
  void be_llama(const std::string& model_type) {
    config_["model_type"] = model_type;
    remove("vocab.json");
    remove("merges.txt");
    root_["post_processor"] = nullptr;
    put("tokenizer.json", root_);
  }

  TemporaryFolder folder_;
  nlohmann::json config_, root_;
  std::vector<std::string> notes_;
};

}  // namespace tessera::test
