#include "checkpoints/tokenizer_class.hpp"

#include <algorithm>
#include <iterator>

namespace tessera {

const TokenizerClass& tokenizer_class(std::string_view name) {
  static const std::map<std::string_view, std::string_view> llama = {
      {"unk_token", "<unk>"}, {"bos_token", "<s>"}, {"eos_token", "</s>"}};
  static const TokenizerClass classes[] = {
      {"GPT2Tokenizer",
       {{"unk_token", "<|endoftext|>"}, {"bos_token", "<|endoftext|>"}, {"eos_token", "<|endoftext|>"}}},
      {"Qwen2Tokenizer",
       {{"unk_token", "<|endoftext|>"}, {"eos_token", "<|endoftext|>"}, {"pad_token", "<|endoftext|>"}}},
      {"LlamaTokenizer", llama, true},
      {"CodeLlamaTokenizer", llama, true},
      {"GemmaTokenizer",
       {{"unk_token", "<unk>"}, {"bos_token", "<bos>"}, {"eos_token", "<eos>"}, {"pad_token", "<pad>"}},
       true}};
  static const TokenizerClass other = {""};
  const auto* found = std::ranges::find(classes, name, &TokenizerClass::name);
  return found == std::end(classes) ? other : *found;
}

std::string_view tokenizer_class_of(std::string_view model_type) {
  static const std::map<std::string_view, std::string_view> classes = {{"gpt2", "GPT2Tokenizer"},
                                                                       {"llama", "LlamaTokenizer"},
                                                                       {"mistral", "LlamaTokenizer"},
                                                                       {"qwen2", "Qwen2Tokenizer"},
                                                                       {"qwen3", "Qwen2Tokenizer"}};
  const auto found = classes.find(model_type);
  return found == classes.end() ? std::string_view() : found->second;
}

}  // namespace tessera
