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

void SaltedLeaves::fill(const WordDomain& domain, const ResidueShares& positions, Range classes,
                        std::span<F> blocks) const {
  std::ranges::fill(blocks, F::zero());
  if (domain.whole()) {
    fill({0, domain.points(), 0, 1}, positions, classes, blocks);
    return;
  }
  const std::size_t step = std::size_t{1} << WordDomain::log_pieces;
  for (std::size_t piece = 0; piece < domain.pieces(); ++piece) {
    const std::size_t exponent = bit_reverse(piece, WordDomain::log_pieces);
    if (classes.contains(positions.class_of(exponent))) {  // of all others as well: classes have fewer bits
      const unsigned log_piece = domain.log_piece();
      fill({piece << log_piece, std::size_t{1} << log_piece, exponent, step}, positions, classes, blocks);
    }
  }
}

void SaltedLeaves::fill(const Run& leaves, const ResidueShares& positions, Range classes, std::span<F> blocks) const {
  const std::size_t together = std::min(salts_at_once, leaves.count);
  const std::size_t before = classes.first << positions.log_size();
#pragma omp parallel
  {
    std::vector<F> salts(together * count());
#pragma omp for schedule(static)
    for (std::size_t begin = 0; begin < leaves.count; begin += together) {
      salt_->elements((leaves.first + begin) * count(), std::span<F>(salts));
      for (std::size_t i = 0; i < together; ++i) {
        const std::size_t index = leaves.exponent + (begin + i) * leaves.step;
        if (classes.contains(positions.class_of(index))) {
          const std::size_t place = positions.gathered_place(index) - before;
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
