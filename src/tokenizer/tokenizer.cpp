#include "tokenizer/tokenizer.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "tokenizer/byte_token.hpp"
#include "tokenizer/decode.hpp"
#include "tokenizer/normalize.hpp"
#include "tokenizer/token_pair.hpp"
#include "tokenizer/words.hpp"

namespace tessera {
namespace {

/// One token of a word in a doubly linked list; id is `no_token` once it was merged into its left neighbour.
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

/// Marks within a part of a text that begins at `begin`, as places of what normalization has made of it; nothing where
/// it has moved them.
std::optional<std::vector<std::size_t>> marks_of(std::string_view part, std::size_t begin,
                                                 std::span<const std::size_t> marks, std::string_view normal) {
  std::vector<std::size_t> moved;
  const std::size_t more = normal.size() - std::min(part.size(), normal.size());  // a space in front
  for (auto mark = std::ranges::lower_bound(marks, begin); mark != marks.end() && *mark < begin + part.size(); ++mark) {
    moved.push_back(*mark - begin + more);
  }
  if (!moved.empty() && !(more <= 1 && normal.substr(more) == part)) {
    return std::nullopt;
  }
  return moved;
}

}  // namespace

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

std::vector<std::uint32_t> Tokenizer::encode(std::string_view text) const { return encode_marked(text, {}); }

std::vector<std::uint32_t> Tokenizer::encode_marked(std::string_view text, std::span<const std::size_t> marks) const {
  std::vector<std::uint32_t> ids;
  const auto token = [&](std::uint32_t id) { ids.push_back(id); };
  added_.cut(
      text, marks,
      [&](std::string_view part) {
        const auto begin = static_cast<std::size_t>(part.data() - text.data());
        const std::string normal = normalize(part);
        const std::optional<std::vector<std::size_t>> moved = marks_of(part, begin, marks, normal);
        const auto rest = [&](std::string_view piece) {
          encode_part(piece, begin == 0 && piece.data() == normal.data(), ids);
        };
        added_normalized_.cut(normal, moved.value_or(std::vector<std::size_t>()), rest, [&](std::uint32_t id) {
          if (!moved) {
            throw InputError("text: expected a place of " + quoted_name(data_.vocabulary[id]) +
                             " that is certainly no content, found it in normalized text");
          }
          token(id);
        });
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
    if (id == no_token) {
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
  if (word.size() >= no_token) {
    throw InputError("text: expected words below 2^32 bytes, found " + std::to_string(word.size()));
  }
  const bool rounds = data_.model == TokenizerModel::gpt2;
  const auto count = static_cast<std::uint32_t>(word.size());
  std::vector<Node> nodes(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    nodes[i] = {word[i], i == 0 ? no_token : i - 1, i + 1 == count ? no_token : i + 1};
  }
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto consider = [&](std::uint32_t position) {
    if (position == no_token || nodes[position].next == no_token) {
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
      if (left.id != candidate.left || left.next == no_token || nodes[left.next].id != candidate.right) {
        continue;
      }
      Node& right = nodes[left.next];
      left.id = candidate.result;
      right.id = no_token;
      left.next = right.next;
      if (left.next != no_token) {
        nodes[left.next].previous = candidate.position;
      }
      merged.push_back(candidate.position);
    }
    for (const std::uint32_t position : merged) {
      consider(nodes[position].previous);
      consider(position);
    }
  }
  for (std::uint32_t i = count == 0 ? no_token : 0; i != no_token; i = nodes[i].next) {
    ids.push_back(nodes[i].id);
  }
}

std::string Tokenizer::decode(std::span<const std::uint32_t> ids) const { return tessera::decode(data_, ids); }

}  // namespace tessera
