#include <algorithm>
#include <array>
#include <cassert>
#include "field/encoding.hpp"
#include "hash/merkle.hpp"

namespace tessera {

Digest hash_leaf(std::span<const F> values) {
  std::vector<std::uint8_t> message = encode(values);
  message.resize((message.size() + 63) / 64 * 64);
  return blake2s(message);
}

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

}  // namespace tessera
