#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include "base/errors.hpp"
#include "base/text.hpp"
#include "tokenizer/decode.hpp"
#include <tuple>

#include "tokenizer/words.hpp"

namespace tessera {
namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

std::uint64_t pair_key(std::uint32_t left, std::uint32_t right) { return std::uint64_t{left} << 32U | right; }

/// One token of a word in a doubly linked list; id is `none` once it was merged into its left neighbour.
struct Node {
  std::uint32_t id, previous, next;
};

/// A pair that could be merged when it was found; stale if an id has changed since.
struct Candidate {
  std::uint32_t rank, position, left, right, result;
  bool operator>(const Candidate& other) const {
    return std::tie(rank, position) > std::tie(other.rank, other.position);
  }
};

}  // namespace

void check_token(std::uint32_t id, std::size_t vocabulary, std::string_view what) {
  if (id >= vocabulary) {
    throw InputError(std::string(what) + ": expected below " + std::to_string(vocabulary) + ", found " +
                     std::to_string(id));
  }
}

Tokenizer::Tokenizer(TokenizerData data) : data_(std::move(data)), byte_tokens_(256, none) {
  const std::size_t count = data_.vocabulary.size();
  if (count >= none) {
    throw InputError("vocabulary: expected fewer than 2^32 - 1 tokens, found " + std::to_string(count));
  }
  check_token(data_.end_of_text, count, "vocabulary: id of <|endoftext|>");
  std::map<std::string_view, std::uint32_t> ids;  // a hash table is slow for a stranger's choice of tokens
  for (std::uint32_t id = 0; id < count; ++id) {
    const std::string& token = data_.vocabulary[id];
    if (token.empty() || !ids.emplace(token, id).second) {
      throw InputError("vocabulary: token " + std::to_string(id) + ": expected a byte string of its own");
    }
    if (token.size() == 1) {
      byte_tokens_[static_cast<unsigned char>(token[0])] = id;
    }
  }
  for (std::size_t byte = 0; byte < byte_tokens_.size(); ++byte) {
    if (byte_tokens_[byte] == none) {
      throw InputError("vocabulary: token of the single byte " + std::to_string(byte) + " is missing");
    }
  }
  for (std::uint32_t rank = 0; rank < data_.merges.size(); ++rank) {
    const auto [left, right] = data_.merges[rank];
    const std::string what = "merge " + std::to_string(rank);
    check_token(std::max(left, right), count, what);
    const auto merged = ids.find(data_.vocabulary[left] + data_.vocabulary[right]);
    if (merged == ids.end()) {
      throw InputError(what + ": " + quoted_name(data_.vocabulary[left]) + " " + quoted_name(data_.vocabulary[right]) +
                       ": expected two tokens whose concatenation is a token too");
    }
    merges_.push_back({pair_key(left, right), rank, merged->second});
  }
  std::ranges::sort(merges_, {}, &Ranked::pair);
  const auto twice = std::ranges::adjacent_find(merges_, {}, &Ranked::pair);
  if (twice != merges_.end()) {
    const auto [left, right] = data_.merges[twice->rank];
    throw InputError("merge: " + quoted_name(data_.vocabulary[left]) + " " + quoted_name(data_.vocabulary[right]) +
                     ": found twice");
  }
}

std::vector<std::uint32_t> Tokenizer::encode(std::string_view text) const {
  const std::string_view special = data_.vocabulary[data_.end_of_text];
  std::vector<std::uint32_t> ids;
  while (true) {
    const std::size_t found = text.find(special);
    encode_text(text.substr(0, found), ids);
    if (found == std::string_view::npos) {
      return ids;
    }
    ids.push_back(data_.end_of_text);
    text.remove_prefix(found + special.size());
  }
}

void Tokenizer::encode_text(std::string_view text, std::vector<std::uint32_t>& ids) const {
  while (!text.empty()) {
    std::size_t good = 0;
    while (const std::size_t length = first_character(text.substr(good)).length) {
      good += length;
    }
    for (const std::string_view word : gpt2_words(text.substr(0, good))) {
      encode_word(word, ids);
    }
    std::size_t bad = good;
    while (bad < text.size() && first_character(text.substr(bad)).length == 0) {
      ++bad;
    }
    encode_word(text.substr(good, bad - good), ids);
    text.remove_prefix(bad);
  }
}

// Merges as GPT-2 does: the pair of lowest rank first, all its occurrences from left to right, then look again. Pairs
// that a round creates join the queue after the round.
void Tokenizer::encode_word(std::string_view word, std::vector<std::uint32_t>& ids) const {
  if (word.size() >= none) {
    throw InputError("text: expected words below 2^32 bytes, found " + std::to_string(word.size()));
  }
  const auto count = static_cast<std::uint32_t>(word.size());
  std::vector<Node> nodes(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    nodes[i] = {byte_tokens_[static_cast<unsigned char>(word[i])], i == 0 ? none : i - 1,
                i + 1 == count ? none : i + 1};
  }
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto consider = [&](std::uint32_t position) {
    if (position == none || nodes[position].next == none) {
      return;
    }
    const std::uint32_t left = nodes[position].id;
    const std::uint32_t right = nodes[nodes[position].next].id;
    const auto merge = std::ranges::lower_bound(merges_, pair_key(left, right), {}, &Ranked::pair);
    if (merge != merges_.end() && merge->pair == pair_key(left, right)) {
      queue.push({merge->rank, position, left, right, merge->result});
    }
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    consider(i);
  }
  std::vector<std::uint32_t> merged;
  while (!queue.empty()) {
    const std::uint32_t rank = queue.top().rank;
    merged.clear();
    while (!queue.empty() && queue.top().rank == rank) {
      const Candidate candidate = queue.top();
      queue.pop();
      Node& left = nodes[candidate.position];
      if (left.id != candidate.left || left.next == none || nodes[left.next].id != candidate.right) {
        continue;
      }
      Node& right = nodes[left.next];
      left.id = candidate.result;
      right.id = none;
      left.next = right.next;
      if (left.next != none) {
        nodes[left.next].previous = candidate.position;
      }
      merged.push_back(candidate.position);
    }
    for (const std::uint32_t position : merged) {
      consider(nodes[position].previous);
      consider(position);
    }
  }
  for (std::uint32_t i = count == 0 ? none : 0; i != none; i = nodes[i].next) {
    ids.push_back(nodes[i].id);
  }
}

std::string decode(const TokenizerData& data, std::span<const std::uint32_t> ids) {
  std::string bytes;
  for (const std::uint32_t id : ids) {
    check_token(id, data.vocabulary.size());
    bytes += data.vocabulary[id];
  }
  return bytes;
}

std::string Tokenizer::decode(std::span<const std::uint32_t> ids) const { return tessera::decode(data_, ids); }

}  // namespace tessera
