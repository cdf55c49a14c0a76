#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer_data.hpp"

namespace tessera {

/// What a name in tokenizer.ggml.pre stands for.
struct GgufSplit {
  std::string_view name;
  Split split = Split::gpt2;
  Normalizer normalizer = Normalizer::none;
  bool ignore_merges = false;
  bool add_bos = false;  // where the file does not say
};

/// The names that are known.
std::vector<std::string> gguf_split_names();
/// What one of them stands for.
const GgufSplit& gguf_split_of(std::string_view name);

}  // namespace tessera
