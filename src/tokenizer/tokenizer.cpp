#include <algorithm>
#include <limits>
#include <queue>
#include "base/errors.hpp"
#include "base/text.hpp"
#include "tokenizer/byte_token.hpp"
#include "tokenizer/decode.hpp"
#include "tokenizer/normalize.hpp"
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

Tokenizer::Tokenizer(TokenizerData data) : data_(std::move(data)), byte_tokens_(256, none) {
  if (data_.vocabulary.size() >= none) {
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
  std::ranges::sort(by_bytes_, {}, [&](std::uint32_t id) {
    return std::tuple(std::string_view(data_.vocabulary[id]), kinds[id], id);
  });
  const auto again = [&](std::uint32_t left, std::uint32_t right) {
    return data_.vocabulary[left] == data_.vocabulary[right];
  };
  for (std::size_t i = 1; i < by_bytes_.size(); ++i) {
    if (kinds[by_bytes_[i]] == Kind::ordinary && again(by_bytes_[i - 1], by_bytes_[i])) {
      throw InputError("vocabulary: token " + std::to_string(by_bytes_[i]) + ": expected a byte string of its own");
    }
  }
  by_bytes_.erase(std::unique(by_bytes_.begin(), by_bytes_.end(), again), by_bytes_.end());
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
  std::vector<std::uint32_t> bytes = data_.byte_tokens;
  std::ranges::sort(bytes);
  auto tied = data_.tied.begin();
  std::uint32_t rank = 0;
  for (std::uint32_t number = 0; number < data_.merges.size(); ++number) {
    if (tied != data_.tied.end() && *tied == number) {
      ++tied;
    } else {
      rank = number;
    }
    const auto [left, right] = data_.merges[number];
    const auto merged = find(data_.vocabulary[left] + data_.vocabulary[right]);
    const bool parts = !data_.vocabulary[left].empty() && !data_.vocabulary[right].empty() &&
                       !std::ranges::binary_search(bytes, left) && !std::ranges::binary_search(bytes, right);
    if (!merged || !parts) {
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

std::optional<std::uint32_t> Tokenizer::find(std::string_view bytes) const {
  const auto found = std::ranges::lower_bound(by_bytes_, bytes, {},
                                              [&](std::uint32_t id) { return std::string_view(data_.vocabulary[id]); });
  return found != by_bytes_.end() && data_.vocabulary[*found] == bytes ? std::optional(*found) : std::nullopt;
}

std::string Tokenizer::normalize(std::string_view text) const {
  switch (data_.normalizer) {
    case Normalizer::nfc:
      return nfc(text);
    case Normalizer::nfkc:
      return nfkc(text);
    case Normalizer::prepend_space:
      return ' ' + marks_to_spaces(text);
    default:
      return std::string(text);
  }
}

std::vector<std::uint32_t> Tokenizer::encode(std::string_view text) const {
  std::vector<std::uint32_t> ids;
  const auto token = [&](std::uint32_t id) { ids.push_back(id); };
  added_.cut(
      text,
      [&](std::string_view part) {
        const bool first = part.data() == text.data();
        const std::string normal = normalize(part);
        const auto rest = [&](std::string_view piece) {
          encode_part(piece, first && piece.data() == normal.data(), ids);
        };
        added_normalized_.cut(normal, rest, token);
      },
      token);
  return ids;
}

std::vector<std::uint32_t> Tokenizer::encode_prompt(std::string_view text) const {
  std::vector<std::uint32_t> ids = data_.prefix;
  const std::vector<std::uint32_t> rest = encode(text);
  ids.insert(ids.end(), rest.begin(), rest.end());
  return ids;
}

void Tokenizer::encode_part(std::string_view text, bool first, std::vector<std::uint32_t>& ids) const {
  if (falls_back(data_.model)) {
    encode_characters(text, first, ids);
  } else if (data_.split == Split::gpt2_spaced && !text.starts_with(' ')) {
    encode_bytes(' ' + std::string(text), ids);
  } else {
    encode_bytes(text, ids);
  }
}

void Tokenizer::encode_bytes(std::string_view text, std::vector<std::uint32_t>& ids) const {
  while (!text.empty()) {
    const std::size_t good = well_formed_length(text);
    for (const std::string_view word : words_of(data_.split, text.substr(0, good))) {
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

void Tokenizer::encode_word(std::string_view word, std::vector<std::uint32_t>& ids) const {
  if (data_.ignore_merges) {
    if (const auto whole = find(word)) {
      ids.push_back(*whole);
      return;
    }
  }
  std::vector<std::uint32_t> tokens;
  for (const char byte : word) {
    const std::uint32_t id = byte_tokens_[static_cast<unsigned char>(byte)];
    if (id == none) {
      throw InputError("text: no token of the vocabulary has the byte " +
                       std::to_string(static_cast<unsigned char>(byte)));
    }
    tokens.push_back(id);
  }
  merge(std::move(tokens), ids);
}

void Tokenizer::encode_characters(std::string_view text, bool first, std::vector<std::uint32_t>& ids) const {
  std::string word;
  if (data_.split == Split::whole && data_.normalizer == Normalizer::prepend_space) {
    word = text;  // has spaces for marks
  } else {
    word = marks_to_spaces(text);
    if (data_.split != Split::whole && (first || data_.split == Split::metaspace_always) && !word.starts_with(' ')) {
      word.insert(0, 1, ' ');
    }
  }
  if (data_.ignore_merges) {
    if (const auto byte = byte_of_token(word)) {  // the vocabulary has it under this name
      ids.push_back(byte_tokens_[*byte]);
      return;
    }
    if (const auto whole = find(word)) {
      ids.push_back(*whole);
      return;
    }
  }
  std::vector<std::uint32_t> tokens;
  for (std::string_view rest = word; !rest.empty();) {
    const std::size_t length = first_character(rest).length;
    const auto id = length == 0 ? std::nullopt : find(rest.substr(0, length));
    if (id) {
      tokens.push_back(*id);
    }
    for (std::size_t i = 0; !id && i < std::max<std::size_t>(length, 1); ++i) {
      tokens.push_back(byte_tokens_[static_cast<unsigned char>(rest[i])]);
    }
    rest.remove_prefix(std::max<std::size_t>(length, 1));
  }
  merge(std::move(tokens), ids);
}

// The pair of lowest rank first, the leftmost of those. GPT-2 merges all occurrences of a pair from left to right, then
// looks again: pairs that a round creates join its queue after the round. Others look again after each merge.
void Tokenizer::merge(std::vector<std::uint32_t> word, std::vector<std::uint32_t>& ids) const {
  if (word.size() >= none) {
    throw InputError("text: expected words below 2^32 bytes, found " + std::to_string(word.size()));
  }
  const bool rounds = data_.model == TokenizerModel::gpt2;
  const auto count = static_cast<std::uint32_t>(word.size());
  std::vector<Node> nodes(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    nodes[i] = {word[i], i == 0 ? none : i - 1, i + 1 == count ? none : i + 1};
  }
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto consider = [&](std::uint32_t position) {
    if (position == none || nodes[position].next == none) {
      return;
    }
    const std::uint32_t left = nodes[position].id;
    const std::uint32_t right = nodes[nodes[position].next].id;
    const auto found = std::ranges::lower_bound(merges_, pair_key(left, right), {}, &Ranked::pair);
    if (found != merges_.end() && found->pair == pair_key(left, right)) {
      queue.push({found->rank, position, left, right, found->result});
    }
  };
  for (std::uint32_t i = 0; i < count; ++i) {
    consider(i);
  }
  std::vector<std::uint32_t> merged;
  while (!queue.empty()) {
    const std::uint32_t rank = queue.top().rank;
    merged.clear();
    while (!queue.empty() && queue.top().rank == rank && (rounds || merged.empty())) {
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

std::string Tokenizer::decode(std::span<const std::uint32_t> ids) const { return tessera::decode(data_, ids); }

}  // namespace tessera
