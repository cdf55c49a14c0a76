#include "commitment/hiding_leaves.hpp"

#include <algorithm>

#include "commitment/schedule.hpp"
#include "field/ntt.hpp"

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

namespace {

/// A polynomial's values, at all points of a word's domain.
class PolynomialLeaves final : public LeafExtras {
 public:
  PolynomialLeaves(std::span<const E> coefficients, const CommittedWord& word)
      : LeafExtras(clear_mask_elements), values_(clear_mask_elements << word.log_domain()) {
    for (std::size_t i = 0; i < coefficients.size(); ++i) {
      F* const to = values_.data() + bit_reverse(i, word.log_domain()) * clear_mask_elements;
      to[0] = coefficients[i].c0, to[1] = coefficients[i].c1;
    }
    ntt(values_, word.log_domain(), clear_mask_elements);
  }
  void fill(const ResidueShares& positions, Range classes, std::span<F> blocks) const override {
    std::ranges::fill(blocks, F::zero());
    F* to = blocks.data();
    for (std::size_t number = classes.first; number < classes.last; ++number) {
      for (std::size_t i = 0; i >> positions.log_size() == 0; ++i, to += block) {
        copy(positions.residue(number) + (i << positions.log_count()), to);
      }
    }
  }
  [[nodiscard]] std::vector<F> at(std::span<const std::size_t> positions) const override {
    std::vector<F> blocks(positions.size() * block);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      copy(positions[i], blocks.data() + i * block);
    }
    return blocks;
  }

 private:
  void copy(std::size_t position, F* to) const {
    std::copy_n(values_.data() + position * clear_mask_elements, clear_mask_elements, to);
  }

  std::vector<F> values_;
};

}  // namespace

std::shared_ptr<const LeafExtras> clear_mask_leaves(std::span<const E> mask, const CommittedWord& word) {
  return std::make_shared<PolynomialLeaves>(mask, word);
}

}  // namespace tessera
