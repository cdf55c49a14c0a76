#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>
#include "commitment/residue_shares.hpp"
#include "field/ntt.hpp"
#include "field/scale_kernels.hpp"
#include "memory/storage.hpp"

namespace tessera {

/// (w^L)^(q m) for coefficients j + m L below `present`: w of the domain's order, L the positions of a coset, q the
/// coset.
inline std::vector<F> fold_factors(std::size_t coset, std::size_t present, const ResidueShares& positions) {
  const F step = F::root_of_unity(positions.log_count()).power(coset);
  std::vector<F> factors;
  F factor = F::one();
  for (std::size_t n = 0; n < present; n += std::size_t{1} << positions.log_size(), factor *= step) {
    factors.push_back(factor);
  }
  return factors;
}

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
  /// `positions`: of the domain, 2^log_columns times the inverse rate.
  CosetTransform(unsigned log_columns, const ResidueShares& positions)
      : positions_(positions),
        log_padding_(positions.log_indices() - log_columns -
                     std::min(positions.log_indices() - log_columns, positions.log_count())) {}

  /// coefficients(n, count, to) writes all lanes of `count` neighbouring coefficients from n on, below `present`.
  /// coefficients.integers(n, count) may give them as 16-bit integers instead.
  /// Result: values[place * lanes + lane] in ResidueShares::place() order, until the next call.
  template <class Coefficients>
  std::span<F> operator()(const Coefficients& coefficients, std::size_t present) {
    const std::size_t part = lanes << positions_.log_size();
    buffer_.resize(positions_.mine().size() * part);
    for (std::size_t i = 0; i < positions_.mine().size(); ++i) {
      const std::size_t coset = positions_.mine().first + i;
      const std::span<F> data = std::span(buffer_).subspan(i * part, part);
      fold(coset, coefficients, present, data);
      ntt(data, positions_.log_size(), lanes, log_padding_, lanes, {coset, positions_.log_count()});
    }
    return buffer_;
  }

 private:
  static constexpr unsigned log_tile = 5;
  static constexpr unsigned log_block = 5;  // neighbouring coefficients at once

  /// Tile by tile of neighbouring coefficients and neighbouring slots: slots are indices with their bits reversed.
  template <class Coefficients>
  void fold(std::size_t coset, const Coefficients& coefficients, std::size_t present, std::span<F> data) const {
    const std::size_t length = std::size_t{1} << positions_.log_size();
    const std::vector<F> factors = fold_factors(coset, present, positions_);
    const unsigned side = std::min(log_tile, positions_.log_size() / 2);
    const std::size_t read = length >> log_padding_;  // the transform does not read slots of higher ones
    const std::size_t block = std::size_t{1} << std::min({log_block, side, positions_.log_size() - log_padding_});
#pragma omp parallel
    {
      std::vector<ScaledIntegers> terms;
      std::array<F, lanes << log_block> sums;
#pragma omp for schedule(static)
      for (std::size_t tile = 0; tile < length >> (2 * side); ++tile) {
        for (std::size_t high = 0; high < read; high += length >> side) {
          const std::size_t first = high + (tile << side);
          for (std::size_t j = first; j < std::min(read, first + (std::size_t{1} << side)); j += block) {
            add_up(coefficients, present, factors, j, block, terms, sums);
            for (std::size_t i = 0; i < block; ++i) {
              F* const slot = data.data() + bit_reverse(j + i, positions_.log_size()) * lanes;
              std::memcpy(static_cast<void*>(slot), sums.data() + i * lanes, lanes * sizeof(F));
            }
          }
        }
      }
    }
  }

  /// Of `block` neighbouring slots.
  template <class Coefficients>
  void add_up(const Coefficients& coefficients, std::size_t present, const std::vector<F>& factors, std::size_t first,
              std::size_t block, std::vector<ScaledIntegers>& terms, std::span<F> sums) const {
    std::ranges::fill(sums, F::zero());
    terms.clear();
    for (std::size_t m = 0; first + (m << positions_.log_size()) < present; ++m) {
      const std::size_t n = first + (m << positions_.log_size());
      if constexpr (requires { coefficients.integers(n, block); }) {  // none beyond `present`
        if (std::optional<ScaledIntegers> term = coefficients.integers(n, block)) {
          term->factor = factors[m];
          if (terms.size() == ScaledIntegers::max_terms) {
            add_scaled_integers(terms, block * lanes, sums.data());
            terms.clear();
          }
          terms.push_back(*term);
          continue;
        }
      }
      std::array<F, lanes << log_block> values;
      const std::size_t here = std::min(block, present - n);
      coefficients(n, here, values.data());
      add_scaled(factors[m], values.data(), here * lanes, sums.data());
    }
    add_scaled_integers(terms, block * lanes, sums.data());
  }

  ResidueShares positions_;
  unsigned log_padding_;
  RawVector<F> buffer_;
};

}  // namespace tessera
