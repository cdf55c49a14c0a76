#pragma once

#include <map>
#include <string_view>

namespace tessera {

/// What a class of tokenizers takes where tokenizer_config.json does not say it.
struct TokenizerClass {
  std::string_view name;  // without Fast
  std::map<std::string_view, std::string_view> tokens = {};
  bool adds_bos = false;  // puts bos_token in front, whatever the template says
};

/// By its name without Fast; one that says nothing if it is not known.
const TokenizerClass& tokenizer_class(std::string_view name);
/// The name of the class that a model takes where no file says one; empty if it is not known.
std::string_view tokenizer_class_of(std::string_view model_type);

}  // namespace tessera
