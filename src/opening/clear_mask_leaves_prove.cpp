#include "opening/clear_mask_leaves.hpp"

#include <algorithm>

#include "field/ntt.hpp"
#include "words/residue_shares.hpp"

namespace tessera {
namespace {

/// A polynomial's values at the points of a word's domain.
class PolynomialLeaves final : public LeafExtras {
 public:
  PolynomialLeaves(std::span<const E> coefficients, const CommittedWord& word)
      : LeafExtras(clear_mask_elements), domain_(word.domain()), values_(clear_mask_elements << word.log_domain()) {
    for (std::size_t i = 0; i < coefficients.size(); ++i) {
      F* const to = values_.data() + bit_reverse(i, word.log_domain()) * clear_mask_elements;
      to[0] = coefficients[i].c0, to[1] = coefficients[i].c1;
    }
    ntt(values_, word.log_domain(), clear_mask_elements);
  }
  void fill(const WordDomain& /*domain*/, const ResidueShares& positions, Range classes,
            std::span<F> blocks) const override {
    std::ranges::fill(blocks, F::zero());
    F* to = blocks.data();
    for (std::size_t number = classes.first; number < classes.last; ++number) {
      for (std::size_t i = 0; i >> positions.log_size() == 0; ++i, to += block) {
        copy(number + (i << positions.log_count()), to);
      }
    }
  }
  [[nodiscard]] std::vector<F> at(std::span<const std::size_t> positions) const override {
    std::vector<F> blocks(positions.size() * block);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      copy(domain_.exponent(positions[i]), blocks.data() + i * block);
    }
    return blocks;
  }

 private:
  void copy(std::size_t exponent, F* to) const {
    std::copy_n(values_.data() + exponent * clear_mask_elements, clear_mask_elements, to);
  }

  WordDomain domain_;
  std::vector<F> values_;  // at all roots of unity, by exponent
};

}  // namespace

std::shared_ptr<const LeafExtras> clear_mask_leaves(std::span<const E> mask, const CommittedWord& word) {
  return std::make_shared<PolynomialLeaves>(mask, word);
}

}  // namespace tessera
