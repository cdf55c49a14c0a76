#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "tokenizer/token_pair.hpp"
#include "tokenizer/tokenizer.hpp"

namespace tessera {
namespace {

/// The first eight bytes, zeros behind a shorter text: ascends as texts do.
std::uint64_t beginning_of(std::string_view text) {
  std::uint64_t beginning = 0;
  for (std::size_t i = 0; i < sizeof(beginning); ++i) {
    beginning = beginning << 8U | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
  }
  return beginning;
}

std::size_t first_two(std::uint64_t beginning) { return static_cast<std::size_t>(beginning >> 48U); }

}  // namespace

std::optional<std::uint32_t> Tokenizer::find(std::string_view bytes) const {
  const std::uint64_t beginning = beginning_of(bytes);
  const auto text_of = [&](std::size_t place) { return std::string_view(data_.vocabulary[by_bytes_[place]]); };
  std::size_t first = alike_[first_two(beginning)];
  const std::size_t end = alike_[first_two(beginning) + 1];
  for (std::size_t last = end; first < last;) {
    const std::size_t middle = (first + last) / 2;
    const bool before = beginnings_[middle] == beginning ? text_of(middle) < bytes : beginnings_[middle] < beginning;
    (before ? first : last) = before ? middle + 1 : middle;
  }
  return first < end && text_of(first) == bytes ? std::optional(by_bytes_[first]) : std::nullopt;
}

Tokenizer::Tokenizer(TokenizerData data) : data_(std::move(data)), byte_tokens_(256, no_token) {
  if (data_.vocabulary.size() >= no_token) {
    throw InputError("vocabulary: expected fewer than 2^32 - 1 tokens, found " +
                     std::to_string(data_.vocabulary.size()));
  }
  check_tokenizer(data_);
  index_tokens();
  index_merges();
  index_added();
}

void Tokenizer::index_tokens() {
  const bool complete = data_.model == TokenizerModel::gpt2;
  enum class Kind : std::uint8_t { ordinary, added, byte };
  std::vector<Kind> kinds(data_.vocabulary.size(), Kind::ordinary);
  for (const auto* added : {&data_.added, &data_.added_normalized}) {
    for (const std::uint32_t id : *added) {
      kinds[id] = Kind::added;
    }
  }
  for (const std::uint32_t id : data_.byte_tokens) {
    kinds[id] = Kind::byte;
  }
  for (std::uint32_t id = 0; id < kinds.size(); ++id) {
    if (!data_.vocabulary[id].empty() && kinds[id] != Kind::byte) {
      by_bytes_.push_back(id);
    } else if (complete) {
      throw InputError("vocabulary: token " + std::to_string(id) + ": expected a byte string of its own");
    }
  }
  // an added token may be an ordinary one too: it stands behind another one of the same bytes
  std::vector<std::pair<std::uint64_t, std::uint32_t>> sorted;
  for (const std::uint32_t id : by_bytes_) {
    sorted.emplace_back(beginning_of(data_.vocabulary[id]), id);
  }
  const auto whole = [&](std::uint32_t id) {
    return std::tuple(std::string_view(data_.vocabulary[id]), kinds[id], id);
  };
  std::ranges::sort(sorted, [&](const auto& a, const auto& b) {
    return a.first == b.first ? whole(a.second) < whole(b.second) : a.first < b.first;
  });
  std::ranges::transform(sorted, by_bytes_.begin(), [](const auto& token) { return token.second; });
  const auto again = [&](std::uint32_t left, std::uint32_t right) {
    return data_.vocabulary[left] == data_.vocabulary[right];
  };
  for (std::size_t i = 1; i < by_bytes_.size(); ++i) {
    if (kinds[by_bytes_[i]] == Kind::ordinary && again(by_bytes_[i - 1], by_bytes_[i])) {
      throw InputError("vocabulary: token " + std::to_string(by_bytes_[i]) + ": expected a byte string of its own");
    }
  }
  by_bytes_.erase(std::unique(by_bytes_.begin(), by_bytes_.end(), again), by_bytes_.end());
  alike_.assign((std::size_t{1} << 16U) + 1, 0);
  for (const std::uint32_t id : by_bytes_) {
    beginnings_.push_back(beginning_of(data_.vocabulary[id]));
    ++alike_[first_two(beginnings_.back()) + 1];
  }
  std::partial_sum(alike_.begin(), alike_.end(), alike_.begin());
  for (std::size_t byte = 0; byte < byte_tokens_.size(); ++byte) {
    const char single = static_cast<char>(byte);
    if (falls_back(data_.model)) {
      byte_tokens_[byte] = data_.byte_tokens[byte];
    } else if (const auto id = find({&single, 1})) {
      byte_tokens_[byte] = *id;
    } else if (complete) {
      throw InputError("vocabulary: token of the single byte " + std::to_string(byte) + " is missing");
    }
  }
}

void Tokenizer::index_merges() {
  std::vector<bool> is_part(data_.vocabulary.size());
  for (std::size_t id = 0; id < is_part.size(); ++id) {
    is_part[id] = !data_.vocabulary[id].empty();
  }
  for (const std::uint32_t id : data_.byte_tokens) {
    is_part[id] = false;
  }
  std::string joined;
  merges_.reserve(data_.merges.size());
  auto tied = data_.tied.begin();
  std::uint32_t rank = 0;
  for (std::uint32_t number = 0; number < data_.merges.size(); ++number) {
    if (tied != data_.tied.end() && *tied == number) {
      ++tied;
    } else {
      rank = number;
    }
    const auto [left, right] = data_.merges[number];
    const auto merged = find(joined.assign(data_.vocabulary[left]).append(data_.vocabulary[right]));
    if (!merged || !is_part[left] || !is_part[right]) {
      throw InputError("merge " + std::to_string(number) + ": " + quoted_name(data_.vocabulary[left]) + " " +
                       quoted_name(data_.vocabulary[right]) +
                       ": expected two tokens whose concatenation is a token too");
    }
    merges_.push_back({pair_key(left, right), rank, *merged});
  }
  std::ranges::sort(merges_, {}, &Ranked::pair);
  const auto twice = std::ranges::adjacent_find(merges_, {}, &Ranked::pair);
  if (twice != merges_.end()) {
    const auto left = static_cast<std::uint32_t>(twice->pair >> 32U), right = static_cast<std::uint32_t>(twice->pair);
    throw InputError("merge: " + quoted_name(data_.vocabulary[left]) + " " + quoted_name(data_.vocabulary[right]) +
                     ": found twice");
  }
}

void Tokenizer::index_added() {
  std::vector<AddedToken> raw, normalized;
  const auto token_of = [&](std::string text, std::uint32_t id) {
    return AddedToken{std::move(text), id, std::ranges::binary_search(data_.added_lstrip, id),
                      std::ranges::binary_search(data_.added_rstrip, id)};
  };
  for (const std::uint32_t id : data_.added) {
    raw.push_back(token_of(data_.vocabulary[id], id));
  }
  if (data_.model == TokenizerModel::gpt2) {
    raw.push_back({data_.vocabulary[data_.end_of_text], data_.end_of_text});
  }
  for (const std::uint32_t id : data_.added_normalized) {
    const std::string& token = data_.vocabulary[id];
    if ((data_.normalizer == Normalizer::nfc || data_.normalizer == Normalizer::nfkc) &&
        std::ranges::any_of(token, [](char byte) { return (byte & 0x80) != 0; })) {
      throw InputError("added_normalized: token " + std::to_string(id) + ": expected ASCII, found " +
                       quoted_name(token));
    }
    normalized.push_back(token_of(normalize(token), id));
  }
  added_ = AddedTokens(std::move(raw));
  added_normalized_ = AddedTokens(std::move(normalized), data_.normalizer == Normalizer::prepend_space);
}

}  // namespace tessera
