#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace tessera {

/// What a proof leaves for the next one: keys and values of the tokens at positions 0 .. length - 1, and the token at
/// position `length`, whose keys and values are not in it yet: the last one generated.
struct ConversationState {
  std::array<std::uint8_t, 32> root{};  // of the commitment to keys and values
  std::uint64_t length = 0;
  std::uint32_t last_token = 0;
  friend bool operator==(const ConversationState&, const ConversationState&) = default;
};

/// How generated tokens are drawn from the model's logits, in integers (src/spec/transformer.md, Sampling): each is the
/// token that a public number, of seed and position alone, hits among its row's top_k best, which the proof lists in
/// clear, or among all tokens, of which the proof shows nothing. make_sampling() of tessera/verify.hpp makes one from a
/// temperature and probabilities.
struct Sampling {
  std::uint32_t inverse_temperature = 4096;  // a = round(4096/temperature), 2^8 to 2^17
  std::uint32_t top_k = 64;                  // candidates of a row, 1 to 1024; 0: the whole vocabulary
  std::uint32_t top_p = 1U << 16U;           // p = round(2^16*top_p): 2^16 leaves nothing out
  std::uint32_t cutoff = 65300;              // c = floor(-4096*ln(min_p)): 65300 leaves nothing out that has a weight
  std::array<std::uint8_t, 32> seed{};
  /// Whether tokens are drawn from the whole vocabulary; top_p then leaves nothing out.
  [[nodiscard]] bool dense() const { return top_k == 0; }
  friend bool operator==(const Sampling&, const Sampling&) = default;
};

/// The public statement: the model's arg-max continuation of `prompt` is `generated`, after the conversation of `start`
/// if there is one, or what `sampling` draws. Token ids of the key's vocabulary; only a continuation may have an empty
/// prompt.
struct Statement {
  std::vector<std::uint32_t> prompt;
  std::vector<std::uint32_t> generated;
  std::optional<ConversationState> start = {};
  bool keeps = false;  // the payload names the root of a state to continue from
  /// Rows of a pass, a power of two up to 128: each pass reads the keys up to its own last row; passes are proven
  /// together. One pass if it is the number of rows or more. 0: 8 to 128, by the number of tokens.
  std::uint32_t pass_length = 0;
  std::optional<Sampling> sampling = {};  // none: every token is the arg-max
  friend bool operator==(const Statement&, const Statement&) = default;
};

}  // namespace tessera
