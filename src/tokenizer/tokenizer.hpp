#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Two tokens that become the one whose bytes are theirs, concatenated.
struct Merge {
  std::uint32_t left = 0, right = 0;
  friend bool operator==(const Merge&, const Merge&) = default;
};

/// Everything needed to encode and decode text: byte-level BPE behind GPT-2's split into words.
struct TokenizerData {
  std::vector<std::string> vocabulary;  // id -> bytes (special tokens: their text)
  std::vector<Merge> merges;            // by rank, lowest first
  std::uint32_t end_of_text = 0;        // id of <|endoftext|>
  friend bool operator==(const TokenizerData&, const TokenizerData&) = default;
};

/// Throws InputError beginning with `what` unless the id is below the size of the vocabulary.
void check_token(std::uint32_t id, std::size_t vocabulary, std::string_view what = "token id");

/// Byte-level BPE with GPT-2's Unicode pre-tokenization. A literal <|endoftext|> in a text is the special token.
/// Text that is not UTF-8 is cut where a byte belongs to no well-formed character: well-formed stretches are encoded as
/// texts of their own, each stretch of other bytes as one word, so decode(encode(text)) == text for all byte strings.
class Tokenizer {
 public:
  /// Throws InputError unless tokens are distinct byte strings, all 256 single bytes and end_of_text are tokens, and
  /// merges are distinct pairs of tokens whose concatenation is a token.
  explicit Tokenizer(TokenizerData data);

  /// The canonical token ids of a byte string; O(n log n) in its length. Safe to call from several threads.
  [[nodiscard]] std::vector<std::uint32_t> encode(std::string_view text) const;
  /// Bytes of the tokens. Throws InputError naming an id outside the vocabulary.
  [[nodiscard]] std::string decode(std::span<const std::uint32_t> ids) const;
  [[nodiscard]] const TokenizerData& data() const { return data_; }

 private:
  struct Ranked {
    std::uint64_t pair;  // left id * 2^32 + right id
    std::uint32_t rank, result;
  };

  void encode_text(std::string_view text, std::vector<std::uint32_t>& ids) const;
  void encode_word(std::string_view word, std::vector<std::uint32_t>& ids) const;

  TokenizerData data_;
  std::vector<std::uint32_t> byte_tokens_;  // byte -> id
  std::vector<Ranked> merges_;              // by pair
};

}  // namespace tessera
