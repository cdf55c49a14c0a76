#pragma once

#include <string_view>
#include <vector>

#include "tokenizer/tokenizer_data.hpp"

namespace tessera {

/// GPT-2's split of a text into words: at each place the first that fits of
/// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`, \s being White_Space, as of the
/// Unicode version of kind_of(). The words make up `text`, which must be well-formed UTF-8.
std::vector<std::string_view> gpt2_words(std::string_view text);

/// The same with Llama 3's pattern: llama3_pattern.
std::vector<std::string_view> llama3_words(std::string_view text);
/// The same with the pattern of Qwen 2 and 3, whose numbers are digits: qwen2_pattern.
std::vector<std::string_view> qwen2_words(std::string_view text);
/// Each number character is a word; what lies between them is split as by gpt2_words().
std::vector<std::string_view> digits_words(std::string_view text);

/// What tokenizer.json writes for these splits. (?i:'s) takes U+017F, the long s, too.
inline constexpr std::string_view llama3_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view qwen2_pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// Of a byte-level split.
std::vector<std::string_view> words_of(Split split, std::string_view text);

}  // namespace tessera
