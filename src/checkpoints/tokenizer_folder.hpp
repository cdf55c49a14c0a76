#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tokenizer/tokenizer_data.hpp"

namespace tessera {

/// The tokenizer of a folder as transformers 4.57 makes it of its files.
struct TokenizerFolder {
  nlohmann::json
      root;          // a tokenizer.json: that of the folder or one made of vocab.json and merges.txt, changed as below
  std::string name;  // of the file that decides
  std::string vocabulary;  // where its tokens and merges stand, for messages
  std::string merges;
  std::optional<std::vector<std::string>> front = {};  // tokens before a prompt, in place of what root's template says
  std::optional<std::string> end_token = {};           // eos_token
  std::string end_file = {};                           // that says so; empty: the class's default
  ChatTemplate chat = {};                              // but for its special ids
  nlohmann::json end_id = {};                          // eos_token_id of config.json, or null
};

/// Reads tokenizer.json, which decides where it is there, or vocab.json and merges.txt; tokenizer_config.json,
/// special_tokens_map.json, added_tokens.json and config.json change it: added tokens and special tokens that it lacks
/// get ids, add_prefix_space replaces that of a ByteLevel pre-tokenizer, and classes like LlamaTokenizer put bos_token
/// in front by add_bos_token. Without tokenizer_config.json and config.json nothing is changed. `notes` gets a line for
/// each file beside that says something else and is not followed. Throws InputError naming file and field.
TokenizerFolder read_tokenizer_folder(const std::filesystem::path& folder, bool gpt2, std::vector<std::string>& notes);

}  // namespace tessera
