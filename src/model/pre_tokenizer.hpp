#pragma once

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <memory>
#include <string_view>
#include "model/tokenizer.hpp"
#include <vector>

namespace tessera {

/// GPT-2's split of a text into words, through PCRE2.
class Tokenizer::PreTokenizer {
 public:
  PreTokenizer();
  /// Consecutive words that make up `text`, which must be well-formed UTF-8.
  [[nodiscard]] std::vector<std::string_view> words(std::string_view text) const;

 private:
  struct Free {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
    void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  };
  std::unique_ptr<pcre2_code, Free> code_;
};

}  // namespace tessera
