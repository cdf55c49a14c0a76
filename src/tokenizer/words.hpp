#pragma once

#include <string_view>
#include <vector>

#include "tokenizer/tokenizer_data.hpp"

namespace tessera {

/// GPT-2's split of a text into words: at each place the first that fits of
/// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`, \s being White_Space, as of the
/// Unicode version of kind_of(). The words make up `text`, which must be well-formed UTF-8.
std::vector<std::string_view> gpt2_words(std::string_view text);

/// Split a well-formed text into words by Llama 3's pattern, llama3_pattern.
std::vector<std::string_view> llama3_words(std::string_view text);
/// Split a well-formed text into words by the pattern of Qwen 2 and 3, whose numbers are digits: qwen2_pattern.
std::vector<std::string_view> qwen2_words(std::string_view text);
/// Each number character is a word; what lies between them is split as by gpt2_words().
std::vector<std::string_view> digits_words(std::string_view text);

/// Patterns one after the other, each applied to what those before it left: what fits becomes a text of its own, and
/// what lies between too. deepseek_llm: `[\r\n]`, `\s?[cased letters]+`, `\s?[common punctuation]+`, `\s+$`,
/// `[U+0800 to U+9FA5, U+AC00 to U+D7FF]+`, `\p{N}`; the sets are in sequence_words.cpp. deepseek_coder: `[\r\n]`,
/// `\s?\p{L}+`, `\s?\p{P}+`, and the last two of these.
std::vector<std::string_view> deepseek_llm_words(std::string_view text);
std::vector<std::string_view> deepseek_coder_words(std::string_view text);
/// deepseek_v3's patterns, one after the other as deepseek_llm's: `\p{N}{1,3}`, `[U+3040 to U+30FF, U+4E00 to
/// U+9FA5]+`, then `[ASCII punctuation][A-Za-z]+|` followed by
/// `[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`.
std::vector<std::string_view> deepseek_v3_words(std::string_view text);
/// bloom's pattern, ` ?[^(\s|.,!?\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C)]+`, and viking's two, that and `\p{N}`
/// after it.
std::vector<std::string_view> bloom_words(std::string_view text);
std::vector<std::string_view> viking_words(std::string_view text);
/// gpt4o_pattern, tekken_pattern and seed_coder_pattern.
std::vector<std::string_view> gpt4o_words(std::string_view text);
std::vector<std::string_view> tekken_words(std::string_view text);
std::vector<std::string_view> seed_coder_words(std::string_view text);

/// What tokenizer.json writes for these splits. (?i:'s) takes U+017F, the long s, too.
inline constexpr std::string_view llama3_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view qwen2_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view gpt4o_pattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view tekken_pattern =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
    R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view seed_coder_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// Splits a text into words by the split of a byte-level tokenizer.
std::vector<std::string_view> words_of(Split split, std::string_view text);

}  // namespace tessera
