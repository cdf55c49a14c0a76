#include <algorithm>
#include <array>
#include <cassert>
#include <tessera/commitment/merkle.hpp>

namespace tessera {

Digest hash_leaf(std::span<const F> values) { return blake2s(encode(values)); }

Digest hash_node(const Digest& left, const Digest& right) {
  std::array<std::uint8_t, 64> message;
  std::ranges::copy(left, message.begin());
  std::ranges::copy(right, message.begin() + 32);
  return blake2s(message);
}

std::vector<std::size_t> distinct_positions(std::vector<std::size_t> drawn) {
  std::ranges::sort(drawn);
  drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
  return drawn;
}

std::vector<std::vector<std::size_t>> multiproof_siblings(std::span<const std::size_t> positions, unsigned log_leaves) {
  std::vector<std::vector<std::size_t>> siblings(log_leaves);
  std::vector<std::size_t> known(positions.begin(), positions.end());
  for (unsigned level = 0; level < log_leaves; ++level) {
    std::vector<std::size_t> parents;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (i + 1 < known.size() && known[i + 1] == (known[i] ^ 1)) {
        ++i;  // both children known
      } else {
        siblings[level].push_back(known[i] ^ 1);
      }
      parents.push_back(known[i] / 2);
    }
    known = std::move(parents);
  }
  return siblings;
}

Digest multiproof_root(std::span<const std::size_t> positions, std::vector<Digest> leaves,
                       std::span<const Digest> siblings, unsigned log_leaves) {
  std::vector<std::size_t> known(positions.begin(), positions.end());
  std::size_t used = 0;
  for (unsigned level = 0; level < log_leaves; ++level) {
    std::size_t parents = 0;
    for (std::size_t i = 0; i < known.size(); ++i) {
      const std::size_t index = known[i];
      if (i + 1 < known.size() && known[i + 1] == (index ^ 1)) {
        leaves[parents] = hash_node(leaves[i], leaves[i + 1]);
        ++i;
      } else {
        assert(used < siblings.size());
        const Digest& sibling = siblings[used++];
        leaves[parents] = index % 2 == 0 ? hash_node(leaves[i], sibling) : hash_node(sibling, leaves[i]);
      }
      known[parents++] = index / 2;
    }
    known.resize(parents);
  }
  assert(used == siblings.size());
  return leaves.front();
}

OpenedColumns receive_columns(VerifierTranscript& transcript, const CommittedWord& word, const Digest& root,
                              std::vector<std::size_t> drawn) {
  OpenedColumns opened{distinct_positions(std::move(drawn)), {}};
  const std::size_t width = word.leaf_values();
  opened.values = transcript.receive_base("columns", opened.positions.size() * width);
  std::vector<Digest> leaves;
  leaves.reserve(opened.positions.size());
  for (std::size_t i = 0; i < opened.positions.size(); ++i) {
    leaves.push_back(hash_leaf(std::span(opened.values).subspan(i * width, width)));
  }
  std::size_t expected = 0;
  for (const auto& level : multiproof_siblings(opened.positions, word.log_domain())) {
    expected += level.size();
  }
  const std::vector<Digest> siblings = transcript.receive_digests("siblings", expected);
  transcript.check(multiproof_root(opened.positions, std::move(leaves), siblings, word.log_domain()) == root,
                   "opened columns do not lead to the committed root");
  return opened;
}

std::vector<E> bind_columns(const CommittedWord& word, const OpenedColumns& opened, std::span<const E> weights) {
  const std::size_t width = word.leaf_values();
  std::vector<E> bound;
  bound.reserve(opened.positions.size());
  for (std::size_t i = 0; i < opened.positions.size(); ++i) {
    const F* column = opened.values.data() + i * width;
    E sum;
    for (std::size_t row = 0; row < weights.size(); ++row) {
      sum += word.extension ? weights[row] * E{column[2 * row], column[2 * row + 1]} : weights[row] * column[row];
    }
    bound.push_back(sum);
  }
  return bound;
}

std::vector<F> evaluation_points(const CommittedWord& word, const OpenedColumns& opened) {
  const F root = F::root_of_unity(word.log_domain());
  std::vector<F> points;
  points.reserve(opened.positions.size());
  for (const std::size_t position : opened.positions) {
    points.push_back(root.power(position));
  }
  return points;
}

}  // namespace tessera
