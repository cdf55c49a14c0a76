#include "tokenizer/tokenizer_data.hpp"

#include <algorithm>
#include <array>

#include "base/errors.hpp"

namespace tessera {
namespace {

constexpr std::array<std::string_view, 4> model_names = {"byte-level BPE", "byte-level BPE with added tokens",
                                                         "BPE with byte fallback", "BPE with byte fallback and ties"};
constexpr std::array<std::string_view, 16> split_names = {
    "gpt2",         "llama3",         "qwen2",       "digits", "whole",  "metaspace_first", "metaspace_always",
    "deepseek_llm", "deepseek_coder", "deepseek_v3", "gpt4o",  "tekken", "seed_coder",      "bloom",
    "viking",       "gpt2_spaced"};
constexpr std::array<std::string_view, 4> normalizer_names = {"none", "NFC", "prepend_space", "NFKC"};

bool fits(TokenizerModel model, Split split, Normalizer normalizer) {
  switch (model) {
    case TokenizerModel::gpt2:
      return split == Split::gpt2 && normalizer == Normalizer::none;
    case TokenizerModel::byte_level:
      return is_byte_level(split) && normalizer != Normalizer::prepend_space;
    default:
      // the space comes from the one or the other, or there is none
      return split == Split::whole ? normalizer == Normalizer::prepend_space || normalizer == Normalizer::none
                                   : !is_byte_level(split) && normalizer == Normalizer::none;
  }
}

void check_ids(const TokenizerData& data, const std::vector<std::uint32_t>& ids, std::string_view field) {
  for (const std::uint32_t id : ids) {
    check_token(id, data.vocabulary.size(), field);
    if (data.vocabulary[id].empty()) {
      throw InputError(std::string(field) + ": expected ids of tokens, found " + std::to_string(id) +
                       ", whose entry is empty");
    }
  }
}

void check_tied(const TokenizerData& data) {
  if ((data.model == TokenizerModel::tied_fallback) == data.tied.empty()) {
    throw InputError("tied: expected " + std::string(data.tied.empty() ? "merges of equal rank" : "none") + " of " +
                     std::string(name_of(data.model)) + ", found " + std::to_string(data.tied.size()));
  }
  std::uint32_t least = 1;  // none stands before the first merge
  for (const std::uint32_t number : data.tied) {
    if (number < least || number >= data.merges.size()) {
      throw InputError("tied: expected ascending numbers from 1 to below " + std::to_string(data.merges.size()) +
                       ", found " + std::to_string(number));
    }
    least = number + 1;
  }
}

void check_added(const TokenizerData& data, const std::vector<std::uint32_t>& ids, std::string_view field) {
  check_ids(data, ids, field);
  if (const auto found = std::ranges::adjacent_find(ids, std::ranges::greater_equal{}); found != ids.end()) {
    throw InputError(std::string(field) + ": expected ascending ids, found " + std::to_string(*found) + " before " +
                     std::to_string(*(found + 1)));
  }
}

void check_strips(const TokenizerData& data, const std::vector<std::uint32_t>& ids, std::string_view field) {
  check_added(data, ids, field);
  for (const std::uint32_t id : ids) {
    if (!std::ranges::binary_search(data.added, id) && !std::ranges::binary_search(data.added_normalized, id)) {
      throw InputError(std::string(field) + ": expected ids of added tokens, found " + std::to_string(id));
    }
  }
}

}  // namespace

std::span<const std::string_view> tokenizer_models() { return model_names; }
std::span<const std::string_view> splits() { return split_names; }
std::span<const std::string_view> normalizers() { return normalizer_names; }
std::string_view name_of(TokenizerModel model) { return model_names.at(static_cast<std::size_t>(model)); }
std::string_view name_of(Split split) { return split_names.at(static_cast<std::size_t>(split)); }
std::string_view name_of(Normalizer normalizer) { return normalizer_names.at(static_cast<std::size_t>(normalizer)); }

bool falls_back(TokenizerModel model) {
  return model == TokenizerModel::byte_fallback || model == TokenizerModel::tied_fallback;
}

bool is_byte_level(Split split) {
  return split != Split::whole && split != Split::metaspace_first && split != Split::metaspace_always;
}

bool is_gpt2(const TokenizerData& data) {
  return data.model == TokenizerModel::gpt2 && data.split == Split::gpt2 && data.normalizer == Normalizer::none &&
         !data.ignore_merges && data.byte_tokens.empty() && data.added.empty() && data.added_normalized.empty() &&
         data.prefix.empty() && data.tied.empty() && !strips(data);
}

void check_token(std::uint32_t id, std::size_t vocabulary, std::string_view what) {
  if (id >= vocabulary) {
    throw InputError(std::string(what) + ": expected below " + std::to_string(vocabulary) + ", found " +
                     std::to_string(id));
  }
}

void check_merges(std::span<const Merge> merges, std::size_t vocabulary, std::string_view what) {
  const auto larger = [](const Merge& merge) { return std::max(merge.left, merge.right); };
  if (const auto bad = std::ranges::find_if(
          merges, [&](std::uint32_t id) { return id >= vocabulary; }, larger);
      bad != merges.end()) {
    check_token(larger(*bad), vocabulary, what);
  }
}

void check_tokenizer(const TokenizerData& data) {
  check_token(data.end_of_text, data.vocabulary.size(), "end_of_text");
  check_merges(data.merges, data.vocabulary.size(), "merges");
  if (!fits(data.model, data.split, data.normalizer)) {
    throw InputError("tokenizer: expected a split and a normalizer of " + std::string(name_of(data.model)) +
                     ", found " + std::string(name_of(data.split)) + " and " + std::string(name_of(data.normalizer)));
  }
  if (data.model == TokenizerModel::gpt2 && !is_gpt2(data)) {
    throw InputError("tokenizer: expected no more than vocabulary, merges and end_of_text of " +
                     std::string(name_of(data.model)));
  }
  check_tied(data);
  const std::size_t bytes = falls_back(data.model) ? 256 : 0;
  if (data.byte_tokens.size() != bytes) {
    throw InputError("byte_tokens: expected " + std::to_string(bytes) + " ids, found " +
                     std::to_string(data.byte_tokens.size()));
  }
  check_ids(data, data.byte_tokens, "byte_tokens");
  for (std::size_t byte = 0; byte < bytes; ++byte) {
    if (data.vocabulary[data.byte_tokens[byte]] != std::string(1, static_cast<char>(byte))) {
      throw InputError("byte_tokens: token " + std::to_string(data.byte_tokens[byte]) + ": expected the byte " +
                       std::to_string(byte));
    }
  }
  check_added(data, data.added, "added_tokens");
  check_added(data, data.added_normalized, "added_normalized");
  for (const std::uint32_t id : data.added_normalized) {
    if (std::ranges::binary_search(data.added, id)) {
      throw InputError("added_normalized: expected other ids than in added_tokens, found " + std::to_string(id));
    }
  }
  check_ids(data, data.prefix, "prefix");
  check_strips(data, data.added_lstrip, "added_lstrip");
  check_strips(data, data.added_rstrip, "added_rstrip");
}

}  // namespace tessera
