#pragma once

#include <array>
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

/// gpt2: vocab.json and merges.txt, the end of text an ordinary token. The others are those of a tokenizer.json, with
/// added tokens: byte_level merges the bytes of words, byte_fallback characters (SentencePiece's), spaces among them,
/// and falls back on the bytes of characters that are no token. tied_fallback: the same, with merges of equal rank.
enum class TokenizerModel : std::uint8_t { gpt2, byte_level, byte_fallback, tied_fallback };
/// How a text becomes words. Of byte_level: the split of GPT-2, of Llama 3, of Qwen 2 and 3, GPT-2's of what lies
/// between single digits (SmolLM), those of words.hpp, or GPT-2's with a space before what lies between added
/// tokens unless it begins with one (gpt2_spaced). Of byte_fallback: `whole` leaves the text as it is,
/// Metaspace puts a space before it unless it begins with one: before the first word of a text only, or after each
/// added token.
enum class Split : std::uint8_t {
  gpt2,
  llama3,
  qwen2,
  digits,
  whole,
  metaspace_first,
  metaspace_always,
  deepseek_llm,
  deepseek_coder,
  deepseek_v3,
  gpt4o,
  tekken,
  seed_coder,
  bloom,
  viking,
  gpt2_spaced
};
/// What is done to the text between added tokens: nothing, NFC, a space put before it, or NFKC.
enum class Normalizer : std::uint8_t { none, nfc, prepend_space, nfkc };

/// Names of the values above, in their order: of keys and files.
std::span<const std::string_view> tokenizer_models();
std::span<const std::string_view> splits();
std::span<const std::string_view> normalizers();
std::string_view name_of(TokenizerModel model);
/// Characters fall back on bytes.
bool falls_back(TokenizerModel model);
/// A way to make words of byte_level.
bool is_byte_level(Split split);
std::string_view name_of(Split split);
std::string_view name_of(Normalizer normalizer);

/// How a conversation becomes a text, in Jinja, and what a tokenizer's library gives to the template beside messages.
struct ChatTemplate {
  std::string text = {};                    // UTF-8; empty: none, and nothing of the rest
  std::array<std::string, 7> tokens = {};   // by chat_token_names; empty: no such token
  std::vector<std::uint32_t> special = {};  // added tokens that the tokenizer calls special, by ascending id
  friend bool operator==(const ChatTemplate&, const ChatTemplate&) = default;
};
inline constexpr std::array<std::string_view, 7> chat_token_names = {"bos_token", "eos_token", "unk_token", "sep_token",
                                                                     "pad_token", "cls_token", "mask_token"};

/// Everything needed to encode and decode text.
struct TokenizerData {
  std::vector<std::string> vocabulary;  // id -> bytes, a space for SentencePiece's mark; added tokens: their text
  std::vector<Merge> merges;            // by rank, lowest first
  std::uint32_t end_of_text = 0;        // its id
  TokenizerModel model = TokenizerModel::gpt2;
  // the rest has other values than these with models other than gpt2 only; ids without a token have an empty entry
  Split split = Split::gpt2;
  Normalizer normalizer = Normalizer::none;
  bool ignore_merges = false;                        // a word that is a token is that token
  std::vector<std::uint32_t> byte_tokens = {};       // byte_fallback: 256 ids, of the byte of each number
  std::vector<std::uint32_t> added = {};             // cut out of the text first, by ascending id
  std::vector<std::uint32_t> added_normalized = {};  // cut out of the normalized text, by ascending id
  std::vector<std::uint32_t> prefix = {};            // stand in front of a prompt
  std::vector<std::uint32_t> tied = {};  // tied_fallback: merges of the rank of the one before, by ascending number
  std::vector<std::uint32_t> added_lstrip = {};  // added tokens that take the white space before them
  std::vector<std::uint32_t> added_rstrip = {};  // and behind them, by ascending id
  // of any model: after these, by ascending id, it says no more; empty where that is the end of text alone
  std::vector<std::uint32_t> ends = {};
  ChatTemplate chat = {};  // of any model
  friend bool operator==(const TokenizerData&, const TokenizerData&) = default;
};

/// Added tokens are more than their texts: a key then says so.
inline bool strips(const TokenizerData& data) { return !data.added_lstrip.empty() || !data.added_rstrip.empty(); }

/// No field says more than gpt2's do.
bool is_gpt2(const TokenizerData& data);

/// Throws InputError beginning with `what` unless the id is below the size of the vocabulary.
void check_token(std::uint32_t id, std::size_t vocabulary, std::string_view what = "token id");
/// check_token() of both tokens of each merge.
void check_merges(std::span<const Merge> merges, std::size_t vocabulary, std::string_view what);

/// Throws InputError, naming the field, unless ids are below the size of the vocabulary, added tokens ascend, have
/// bytes and are in one list, those that strip are added ones, and the fields belong to the model. Not what a Tokenizer
/// needs of the vocabulary's bytes.
void check_tokenizer(const TokenizerData& data);

}  // namespace tessera
