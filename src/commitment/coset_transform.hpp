#pragma once

#include <array>
#include <optional>
#include <utility>
#include "commitment/residue_shares.hpp"
#include "field/ntt.hpp"
#include "field/scale_kernels.hpp"
#include "memory/storage.hpp"

namespace tessera {

/// Powers of w below w^count, two factors each.
class PowerTable {
 public:
  PowerTable(F w, std::size_t count) : low_(std::min(count, std::size_t{1} << log_low)), high_((count >> log_low) + 1) {
    fill(low_, w);
    fill(high_, w.power(std::size_t{1} << log_low));
  }
  [[nodiscard]] F operator[](std::size_t i) const {
    return low_[i & ((std::size_t{1} << log_low) - 1)] * high_[i >> log_low];
  }

 private:
  static constexpr unsigned log_low = 10;
  static void fill(std::vector<F>& powers, F w) {
    F power = F::one();
    for (F& entry : powers) {
      entry = std::exchange(power, power * w);
    }
  }
  std::vector<F> low_, high_;
};

/// Evaluates polynomials of 2^log_columns coefficients, side by side in lanes, at this rank's positions of a domain.
/// With L positions in a coset, w of the domain's order, coset q of 2^c, the value at position q + 2^c i is
///
///   sum_n a_n w^(q n) (w^(2^c))^(i n) = sum_(j < L) (sum_(n = j mod L) a_n w^(q n)) (w^(2^c))^(i j).
class CosetTransform {
 public:
  static constexpr std::size_t lanes = 8;  // a block of the hash
  /// `positions`: of the domain, 2^log_columns times the inverse rate.
  CosetTransform(unsigned log_columns, const ResidueShares& positions)
      : columns_(std::size_t{1} << log_columns),
        positions_(positions),
        log_padding_(positions.log_indices() - log_columns -
                     std::min(positions.log_indices() - log_columns, positions.log_count())) {}

  /// coefficients(n, to) writes lanes of coefficient n and returns how many; the others are zero.
  /// coefficients.integers(n) may give all lanes as small integers instead. Result: values[place * lanes + lane] in
  /// ResidueShares::place() order, until the next call.
  template <class Coefficients>
  std::span<F> operator()(const Coefficients& coefficients) {
    const std::size_t part = lanes << positions_.log_size();
    buffer_.resize(positions_.mine().size() * part);
    for (std::size_t i = 0; i < positions_.mine().size(); ++i) {
      const std::span<F> data = std::span(buffer_).subspan(i * part, part);
      fold(positions_.mine().first + i, coefficients, data);
      ntt(data, positions_.log_size(), lanes, log_padding_);
    }
    return buffer_;
  }

 private:
  static constexpr unsigned log_tile = 5;

  /// What adds up in a slot. Small integers wait for each other: their products are added before they are reduced.
  class Terms {
   public:
    void begin(F* sums) { sums_ = sums; }
    template <class Coefficients>
    void add(const PowerTable& powers, const Coefficients& coefficients, std::size_t n) {
      if constexpr (requires { coefficients.integers(n); }) {
        if (std::optional<ScaledIntegers> term = coefficients.integers(n)) {
          term->factor = powers[n];
          waiting_[count_++] = *term;
          if (count_ == waiting_.size()) {
            finish();
          }
          return;
        }
      }
      std::array<F, lanes> values;
      if (const std::size_t count = coefficients(n, values.data()); count > 0) {
        add_scaled(powers[n], values.data(), count, sums_);
      }
    }
    void finish() {
      if (count_ > 0) {
        add_scaled_integers(std::span(waiting_).first(count_), sums_);
        count_ = 0;
      }
    }

   private:
    static_assert(ScaledIntegers::count == lanes);
    F* sums_ = nullptr;
    std::array<ScaledIntegers, 64> waiting_;
    std::size_t count_ = 0;
  };

  /// Tile by tile of neighbouring coefficients and neighbouring slots: slots are indices with their bits reversed.
  template <class Coefficients>
  void fold(std::size_t coset, const Coefficients& coefficients, std::span<F> data) const {
    const PowerTable powers(F::root_of_unity(positions_.log_indices()).power(coset), columns_);
    const unsigned side = std::min(log_tile, positions_.log_size() / 2);
    const std::size_t length = std::size_t{1} << positions_.log_size();
    const std::size_t read = length >> log_padding_;  // the transform does not read slots of higher ones
#pragma omp parallel for schedule(static)
    for (std::size_t tile = 0; tile < length >> (2 * side); ++tile) {
      Terms terms;
      for (std::size_t high = 0; high < read; high += length >> side) {
        const std::size_t first = high + (tile << side);
        for (std::size_t j = first; j < std::min(read, first + (std::size_t{1} << side)); ++j) {
          F* const sums = data.data() + bit_reverse(j, positions_.log_size()) * lanes;
          std::fill_n(sums, lanes, F::zero());
          terms.begin(sums);
          for (std::size_t n = j; n < columns_; n += length) {
            terms.add(powers, coefficients, n);
          }
          terms.finish();
        }
      }
    }
  }

  std::size_t columns_;
  ResidueShares positions_;
  unsigned log_padding_;
  RawVector<F> buffer_;
};

}  // namespace tessera
