#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include "model/model.hpp"
#include <unordered_map>
#include <vector>

namespace tessera {

/// Reads vocab.json and merges.txt of a GPT-2 byte-level BPE. Throws InputError naming file, field, expected and found:
/// ids must be 0..V-1, tokens byte symbols, all 256 single bytes and <|endoftext|> present, merges of known tokens into
/// a known token without repetition, everything valid UTF-8.
TokenizerData load_tokenizer(const std::filesystem::path& folder);

/// Byte-level BPE with GPT-2's Unicode pre-tokenization. A literal <|endoftext|> in a text is the special token.
/// Text that is not UTF-8 is cut where a byte belongs to no well-formed character: well-formed stretches are encoded as
/// texts of their own, each stretch of other bytes as one word, so decode(encode(text)) == text for all byte strings.
class Tokenizer {
 public:
  /// Throws InputError if the data is inconsistent (same conditions as load_tokenizer).
  explicit Tokenizer(TokenizerData data);
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  /// Token ids of a byte string; O(n log n) in its length. Safe to call from several threads.
  [[nodiscard]] std::vector<std::uint32_t> encode(std::string_view text) const;
  /// Bytes of the tokens. Throws InputError naming an id outside the vocabulary.
  [[nodiscard]] std::string decode(std::span<const std::uint32_t> ids) const;
  [[nodiscard]] const TokenizerData& data() const { return data_; }

 private:
  struct Merge {
    std::uint32_t rank, result;
  };
  class PreTokenizer;

  void encode_text(std::string_view text, std::vector<std::uint32_t>& ids) const;
  void encode_word(std::string_view word, std::vector<std::uint32_t>& ids) const;

  TokenizerData data_;
  std::unique_ptr<PreTokenizer> pre_tokenizer_;
  std::vector<std::uint32_t> byte_tokens_;           // byte -> id
  std::unordered_map<std::uint64_t, Merge> merges_;  // left id * 2^32 + right id
};

}  // namespace tessera
