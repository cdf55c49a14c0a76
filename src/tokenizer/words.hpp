#pragma once

#include <string_view>
#include <vector>

namespace tessera {

/// GPT-2's split of a text into words: at each place the first that fits of
/// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`, \s being White_Space, as of the
/// Unicode version of kind_of(). The words make up `text`, which must be well-formed UTF-8.
std::vector<std::string_view> gpt2_words(std::string_view text);

}  // namespace tessera
