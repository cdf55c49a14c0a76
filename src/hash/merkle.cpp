#include <algorithm>
#include <array>
#include <cassert>
#include "field/encoding.hpp"
#include "hash/merkle.hpp"

namespace tessera {

namespace {

/// Bytes of a leaf: whole blocks.
std::size_t leaf_bytes(std::size_t width) { return (width * sizeof(std::uint64_t) + 63) / 64 * 64; }

}  // namespace

Digest hash_leaf(std::span<const F> values) { return hash_leaves(values, values.size()).front(); }

std::vector<Digest> hash_leaves(std::span<const F> values, std::size_t width) {
  constexpr std::size_t at_once = 16;  // messages that stay in the cache until they are hashed
  assert(width > 0);
  const std::size_t length = leaf_bytes(width);
  std::vector<Digest> leaves(values.size() / width);
  std::vector<std::uint8_t> messages;
  for (std::size_t first = 0; first < leaves.size(); first += at_once) {
    const std::size_t count = std::min(at_once, leaves.size() - first);
    messages.assign(count * length, 0);
    for (std::size_t i = 0; i < count; ++i) {
      std::ranges::copy(encode(values.subspan((first + i) * width, width)),
                        messages.begin() + static_cast<std::ptrdiff_t>(i * length));
    }
    blake2s_each(messages, length, std::span(leaves).subspan(first, count));
  }
  return leaves;
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
  std::vector<Digest> children;  // of a level's nodes, two by two
  std::size_t used = 0;
  for (unsigned level = 0; level < log_leaves; ++level) {
    children.clear();
    std::size_t parents = 0;
    for (std::size_t i = 0; i < known.size(); ++i) {
      const std::size_t index = known[i];
      if (i + 1 < known.size() && known[i + 1] == (index ^ 1)) {
        children.insert(children.end(), {leaves[i], leaves[i + 1]});
        ++i;
      } else {
        assert(used < siblings.size());
        const Digest& sibling = siblings[used++];
        children.insert(children.end(), {index % 2 == 0 ? leaves[i] : sibling, index % 2 == 0 ? sibling : leaves[i]});
      }
      known[parents++] = index / 2;
    }
    known.resize(parents);
    leaves.resize(parents);
    const auto* const messages = reinterpret_cast<const std::uint8_t*>(children.data());
    blake2s_each({messages, children.size() * sizeof(Digest)}, 2 * sizeof(Digest), leaves);
  }
  assert(used == siblings.size());
  return leaves.front();
}

}  // namespace tessera
