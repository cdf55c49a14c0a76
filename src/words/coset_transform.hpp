#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>
#include "words/residue_shares.hpp"
#include "field/ntt.hpp"
#include "field/scale_kernels.hpp"
#include "memory/storage.hpp"

namespace tessera {

/// Evaluates polynomials of 2^log_columns coefficients, side by side in lanes, at this rank's positions of a domain.
/// With L positions in a coset, w of the domain's order, coset q of 2^c, the value at position q + 2^c i is
///
///   sum_(j < L) w^((q + 2^c i) j) sum_m a_(j + m L) (w^L)^(q m):
///
/// coefficients that are L apart are added up with few factors, the same for every j, and what is left is a transform
/// of L coefficients on the coset.
class CosetTransform {
 public:
  static constexpr std::size_t lanes = 8;  // a block of the hash
  static constexpr std::size_t most_neighbours = 32;
  /// `positions`: of the domain, 2^log_columns times the inverse rate. `lanes_at_once`: at most 16.
  CosetTransform(unsigned log_columns, const ResidueShares& positions, std::size_t lanes_at_once = lanes)
      : positions_(positions),
        log_padding_(positions.log_indices() - log_columns -
                     std::min(positions.log_indices() - log_columns, positions.log_count())),
        lanes_(lanes_at_once) {}

  /// coefficients(n, count, to) writes all lanes of `count` neighbouring coefficients from n on, below `present`.
  /// coefficients.integers(n, count, scratch) may give them as 16-bit integers instead, perhaps in `scratch`.
  /// Result: values[place * lanes + lane] at the positions of `classes`, in ResidueShares::place() order, until the
  /// next call.
  template <class Coefficients>
  std::span<F> operator()(Range classes, const Coefficients& coefficients, std::size_t present) {
    const std::size_t part = lanes_ << positions_.log_size();
    reserve(classes.size() * part);
    for (std::size_t number = classes.first; number < classes.last; ++number) {
      const std::span<F> data = std::span(buffer_).subspan((number - classes.first) * part, part);
      const std::vector<F> factors = fold_factors(number, present);
      ntt(data, positions_.log_size(), lanes_, log_padding_, lanes_, {number, positions_.log_count()},
          [&](const CoefficientBlock& block) { put(block, coefficients, present, factors); });
    }
    return buffer_;
  }

  /// The values of one class go to `take`, slot i at the class's i-th position, and nowhere else.
  template <class Coefficients>
  void through(std::size_t number, const Coefficients& coefficients, std::size_t present, const TakeValues& take) {
    reserve(lanes_ << positions_.log_size());
    const std::vector<F> factors = fold_factors(number, present);
    ntt(
        buffer_, positions_.log_size(), lanes_, log_padding_, {number, positions_.log_count()},
        [&](const CoefficientBlock& block) { put(block, coefficients, present, factors); }, take);
  }

  /// What was encoded in last.
  [[nodiscard]] std::span<F> scratch() { return buffer_; }

 private:
  static constexpr std::size_t most_lanes = 16;
  static constexpr std::size_t ahead = 8;  // slots: what they need comes from memory by then
  void reserve(std::size_t size) {
    if (buffer_.size() != size) {
      buffer_ = {};
      buffer_.resize(size);
      take_pages(buffer_.data(), size * sizeof(F));  // threads write everywhere
    }
  }

  /// (w^L)^(q m) for coefficients j + m L below `present`, q the coset.
  [[nodiscard]] std::vector<F> fold_factors(std::size_t coset, std::size_t present) const {
    const F step = F::root_of_unity(positions_.log_count()).power(coset);
    std::vector<F> factors;
    F factor = F::one();
    for (std::size_t n = 0; n < present; n += std::size_t{1} << positions_.log_size(), factor *= step) {
      factors.push_back(factor);
    }
    return factors;
  }

  using Sums = std::array<F, most_lanes * most_neighbours>;

  /// Integers that are added up together.
  class FoldTerms {
   public:
    explicit FoldTerms(std::size_t integers_of_a_term) : size_(integers_of_a_term) {}
    /// Room for the integers of the next term.
    [[nodiscard]] std::uint16_t* scratch() {
      if (!integers_) {
        integers_ = std::make_unique_for_overwrite<std::uint16_t[]>(most * size_);
      }
      return integers_.get() + terms_.size() * size_;
    }
    void add(const ScaledIntegers& term) { terms_.push_back(term); }
    [[nodiscard]] bool full() const { return terms_.size() == most; }
    /// Adds them to the first `count` sums.
    void add_to(F* sums, std::size_t count) {
      if (!terms_.empty()) {
        add_scaled_integers(terms_, count, sums);
        terms_.clear();
      }
    }

   private:
    static constexpr std::size_t most = 64;  // what is copied stays in a cache
    static_assert(most <= ScaledIntegers::max_terms);
    std::size_t size_;
    std::unique_ptr<std::uint16_t[]> integers_;
    std::vector<ScaledIntegers> terms_;
  };

  template <class Coefficients>
  void put(const CoefficientBlock& block, const Coefficients& coefficients, std::size_t present,
           const std::vector<F>& factors) const {
    const std::size_t read = std::size_t{1} << (positions_.log_size() - log_padding_);  // others are zero
    FoldTerms terms(most_neighbours * lanes_);
    Sums sums;
    const unsigned log_count = positions_.log_size() - log_padding_ - block.log_distance;
    for (std::size_t slot = 0; slot >> log_count == 0; ++slot) {  // in the order of slots, which are written
      const std::size_t n = block.first + (bit_reverse(slot, log_count) << block.log_distance);
      const std::size_t count = std::min(block.neighbours, read - n);
      for (std::size_t first = 0; first < count; first += most_neighbours) {
        const std::size_t here = std::min(most_neighbours, count - first);
        if constexpr (requires { coefficients.prefetch(n, here); }) {
          if (const std::size_t later = slot + ahead; later >> log_count == 0) {
            std::size_t next = block.first + first + (bit_reverse(later, log_count) << block.log_distance);
            for (std::size_t m = 0; m < factors.size(); ++m, next += std::size_t{1} << positions_.log_size()) {
              coefficients.prefetch(next, here);
            }
          }
        }
        add_up(coefficients, present, factors, n + first, here, terms, sums);
        for (std::size_t i = 0; i < here; ++i) {
          copy_lanes(sums.data() + i * lanes_, block.slot(first + i, slot << log_padding_));
        }
      }
    }
  }

  void copy_lanes(const F* from, F* to) const {
    if (lanes_ == lanes) {  // of a size that the compiler knows
      std::memcpy(static_cast<void*>(to), from, lanes * sizeof(F));
    } else if (lanes_ == most_lanes) {
      std::memcpy(static_cast<void*>(to), from, most_lanes * sizeof(F));
    } else {
      std::memcpy(static_cast<void*>(to), from, lanes_ * sizeof(F));
    }
  }

  /// Adds up coefficients for `count` neighbouring slots from slot `first` on.
  template <class Coefficients>
  void add_up(const Coefficients& coefficients, std::size_t present, const std::vector<F>& factors, std::size_t first,
              std::size_t count, FoldTerms& terms, Sums& sums) const {
    const std::size_t here = std::min(count, present - std::min(present, first));
    const bool alone = first + (std::size_t{1} << positions_.log_size()) >= present;  // nothing to multiply
    if (alone || !add_integers(coefficients, first, count, F::one(), terms)) {
      if (here > 0) {
        coefficients(first, here, sums.data());
      }
      std::fill(sums.data() + here * lanes_, sums.data() + count * lanes_, F::zero());
    } else {
      std::fill_n(sums.data(), count * lanes_, F::zero());
    }
    for (std::size_t m = 1; m < factors.size() && first + (m << positions_.log_size()) < present; ++m) {
      const std::size_t n = first + (m << positions_.log_size());
      if (terms.full()) {
        terms.add_to(sums.data(), count * lanes_);
      }
      if (!add_integers(coefficients, n, count, factors[m], terms)) {
        Sums values;
        const std::size_t some = std::min(count, present - n);
        coefficients(n, some, values.data());
        add_scaled(factors[m], values.data(), some * lanes_, sums.data());
      }
    }
    terms.add_to(sums.data(), count * lanes_);
  }

  /// Whether coefficients are integers, which are added later then.
  template <class Coefficients>
  static bool add_integers(const Coefficients& coefficients, std::size_t n, std::size_t count, F factor,
                           FoldTerms& terms) {
    if constexpr (requires { coefficients.integers(n, count, nullptr); }) {
      if (std::optional<ScaledIntegers> term = coefficients.integers(n, count, terms.scratch())) {
        term->factor = factor;
        terms.add(*term);
        return true;
      }
    }
    return false;
  }

  ResidueShares positions_;
  unsigned log_padding_;
  std::size_t lanes_;
  RawVector<F> buffer_;
};

}  // namespace tessera
