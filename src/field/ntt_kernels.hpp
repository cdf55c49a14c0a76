#pragma once

#include "field/ntt.hpp"

/// \file
/// Pieces of transforms, vectorised.

namespace tessera {

/// Twiddles of a transform of its own of 2^log_rows rows: [2^t - 1 + i] = w^i * 2^64 (Montgomery form), w of order
/// 2^(t+1).
std::vector<F> own_twiddles(unsigned log_rows);

// twiddles[2^t - 1 + i] belongs to the butterflies of layer t with low index i.

/// Twiddles of a transform's first layers. Roots of order 64 at most are powers of 2: those of some layers are given as
/// exponents, too.
class FirstTwiddles {
 public:
  static constexpr unsigned order_of_two = 192;
  FirstTwiddles(unsigned log_rows, Coset coset);
  [[nodiscard]] const F* factors() const { return factors_.data(); }
  /// factors()[k] = 2^(64 + exponents()[k]) in layers below power_layers().
  [[nodiscard]] const std::uint8_t* exponents() const { return exponents_.data(); }
  [[nodiscard]] unsigned power_layers() const { return power_layers_; }

 private:
  std::vector<F> factors_;
  std::vector<std::uint8_t> exponents_;
  unsigned power_layers_;
};

/// The first layers of a transform, of 2^log_rows rows of `lanes` values that begin `stride` values apart. Only every
/// 2^log_padding-th row need be there, log_padding <= log_rows.
void transform_padded(F* rows, std::size_t stride, unsigned log_padding, unsigned log_rows, std::size_t lanes,
                      const FirstTwiddles& twiddles);

/// A transform of 2^log_rows rows of `lanes` values, in place.
void transform_rows(F* rows, unsigned log_rows, std::size_t lanes, const F* twiddles);

/// Slots of `lanes` values: of every row `neighbours` side by side, `stride` values apart, rows `distance` values
/// apart.
struct SlotGrid {
  std::size_t distance;
  std::size_t stride;
  std::size_t rows;
  std::size_t neighbours;
  std::size_t lanes;
};
/// Slot i of row r to place i * rows + r.
void take_rows(const F* from, const SlotGrid& grid, F* to);
/// And back. `stream`: past the cache.
void put_rows(const F* from, const SlotGrid& grid, F* to, bool stream);

}  // namespace tessera
