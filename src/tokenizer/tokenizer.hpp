#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/added_tokens.hpp"
#include "tokenizer/tokenizer_data.hpp"

namespace tessera {

/// BPE of the kinds that TokenizerData describes. Added tokens are cut out of the text (gpt2: <|endoftext|>), then what
/// lies between them is normalized and split into words, then merged. Text that is not UTF-8 is cut where a byte
/// belongs to no well-formed character: well-formed stretches are encoded as texts of their own, each stretch of other
/// bytes as one word, so that decode(encode(text)) == text for all byte strings; byte_fallback takes such bytes as
/// characters. Normalizers change the text that comes back: NFC, and byte_fallback's space for U+2581.
class Tokenizer {
 public:
  /// Throws InputError unless check_tokenizer() holds, ordinary tokens are distinct byte strings, and merges are
  /// distinct pairs of tokens, none of byte_tokens, whose concatenation is a token. gpt2: all 256 single bytes are
  /// tokens. byte_level and NFC: tokens added to the normalized text are ASCII.
  explicit Tokenizer(TokenizerData data);

  /// The canonical token ids of a byte string; O(n log n) in its length. Safe to call from several threads. Throws
  /// InputError naming a byte that no token of byte_level has.
  [[nodiscard]] std::vector<std::uint32_t> encode(std::string_view text) const;
  /// The ids of a text in which bytes at `marks`, ascending places below its length, are neither begin nor end of an
  /// added token: what would begin or end there is text. Throws InputError where a normalizer has moved marks and a
  /// token that is looked for in normalized text stands beside them.
  [[nodiscard]] std::vector<std::uint32_t> encode_marked(std::string_view text,
                                                         std::span<const std::size_t> marks) const;
  /// The token ids of a prompt: first those that stand in front of every prompt, then those of the text as by encode().
  [[nodiscard]] std::vector<std::uint32_t> encode_prompt(std::string_view text) const;
  /// Bytes of the tokens, as by tessera::decode().
  [[nodiscard]] std::string decode(std::span<const std::uint32_t> ids) const;
  [[nodiscard]] const TokenizerData& data() const { return data_; }

 private:
  struct Ranked {
    std::uint64_t pair;  // left id * 2^32 + right id
    std::uint32_t rank, result;
  };

  void index_tokens();
  void index_merges();
  void index_added();
  /// The ordinary token of these bytes; nothing if there is none.
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view bytes) const;
  [[nodiscard]] std::string normalize(std::string_view text) const;
  void encode_part(std::string_view text, bool first, std::vector<std::uint32_t>& ids) const;
  void encode_bytes(std::string_view text, std::vector<std::uint32_t>& ids) const;
  void encode_characters(std::string_view text, bool first, std::vector<std::uint32_t>& ids) const;
  void encode_word(std::string_view word, std::vector<std::uint32_t>& ids) const;
  void merge(std::vector<std::uint32_t> word, std::vector<std::uint32_t>& ids) const;

  TokenizerData data_;
  std::vector<std::uint32_t> byte_tokens_;  // byte -> id
  std::vector<std::uint32_t> by_bytes_;     // ids of tokens whose bytes words are made of, by those bytes
  std::vector<std::uint64_t> beginnings_;   // of those tokens: what is looked at first, side by side in memory
  std::vector<std::uint32_t> alike_;        // by their first two bytes: where such tokens begin
  std::vector<Ranked> merges_;              // by pair
  AddedTokens added_, added_normalized_;
};

}  // namespace tessera
