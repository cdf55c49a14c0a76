#include "words/salted_leaves.hpp"

#include <algorithm>

#include "words/residue_shares.hpp"

namespace tessera {
namespace {

constexpr std::size_t salts_at_once = std::size_t{1} << 12;  // of so many positions

}  // namespace

std::vector<F> salt_blocks(const KeyedStream& stream, std::size_t count, std::span<const std::size_t> positions) {
  std::vector<F> blocks(positions.size() * LeafExtras::block);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    stream.elements(positions[i] * count, std::span(blocks).subspan(i * LeafExtras::block, count));
  }
  return blocks;
}

void SaltedLeaves::fill(const ResidueShares& positions, Range classes, std::span<F> blocks) const {
  std::ranges::fill(blocks, F::zero());
  const std::size_t all = std::size_t{1} << positions.log_indices();
  const std::size_t step = std::min(salts_at_once, all);
  const std::size_t before = classes.first << positions.log_size();
#pragma omp parallel
  {
    std::vector<F> salts(step * count());
#pragma omp for schedule(static)
    for (std::size_t begin = 0; begin < all; begin += step) {
      salt_->elements(begin * count(), std::span<F>(salts));
      for (std::size_t i = 0; i < step; ++i) {
        if (classes.contains(positions.class_of(begin + i))) {
          const std::size_t place = positions.gathered_place(begin + i) - before;
          std::copy_n(salts.data() + i * count(), count(), blocks.data() + place * block);
        }
      }
    }
  }
}

std::vector<F> SaltedLeaves::at(std::span<const std::size_t> positions) const {
  return salt_blocks(*salt_, count(), positions);
}

}  // namespace tessera
