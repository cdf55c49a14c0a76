#pragma once

#include "field/ntt.hpp"

/// \file
/// Pieces of transforms, vectorised.

namespace tessera {

/// Layers [first, first + count) of a transform at once: a butterfly is on 2^count rows that are 2^first apart.
struct TransformStep {
  static constexpr unsigned most_layers = 4;  // roots of order 16 are powers of 2, and rows fit into registers
  static constexpr std::size_t most_rows = std::size_t{1} << most_layers;
  unsigned first;
  unsigned count;
  std::size_t offset;  ///< of its twiddles
};

/// Twiddles of a transform of 2^log_rows rows, step by step, in Montgomery form: butterfly i of a step multiplies row
/// bit_reverse(k) by u^k, u = w^i of order 2^(first + count), and its own transform takes powers of 2 alone.
class PassTwiddles {
 public:
  static constexpr std::size_t gap = 64 / sizeof(F);  ///< values between groups of rows: a cache line
  /// Twiddles of a transform of which only every 2^log_padding-th row need be there, log_padding <= log_rows.
  explicit PassTwiddles(unsigned log_rows, unsigned log_padding = 0);
  /// Makes a copy of `plain` those of a coset: u times v^number, v of order 2^(first + count + log_count). In a later
  /// pass of a transform slots with one low index are such a coset.
  void set_coset(const PassTwiddles& plain, Coset coset);

  [[nodiscard]] unsigned log_rows() const { return log_rows_; }
  [[nodiscard]] unsigned log_padding() const { return log_padding_; }
  [[nodiscard]] std::span<const TransformStep> steps() const { return steps_; }
  [[nodiscard]] const F* factors(std::size_t step) const { return factors_.data() + steps_[step].offset; }
  /// u = 1 in the first butterflies.
  [[nodiscard]] bool unit() const { return unit_; }

  /// Rows of `lanes` values with gaps, which the last step's butterflies jump over: without them their rows, a power of
  /// two apart, would share few places of a cache. Where a row begins, and the values of all.
  [[nodiscard]] std::size_t place(std::size_t row, std::size_t lanes) const {
    return row * lanes + (row >> log_group()) * gap;
  }
  [[nodiscard]] std::size_t size(std::size_t lanes) const { return place(std::size_t{1} << log_rows_, lanes); }
  /// Groups of 2^log_group() rows have no gaps inside.
  [[nodiscard]] unsigned log_group() const { return steps_.size() > 1 ? steps_.back().first : log_rows_; }

 private:
  unsigned log_rows_;
  unsigned log_padding_;
  bool unit_ = true;
  std::vector<TransformStep> steps_;
  std::vector<F> factors_;
};

/// A transform of 2^log_rows rows of `lanes` values that begin `stride` values apart, in place.
void transform_rows(F* rows, std::size_t stride, std::size_t lanes, const PassTwiddles& twiddles);
/// A transform of 2^log_rows rows of `lanes` values that lie at PassTwiddles::place(), in place.
void transform_rows(F* rows, std::size_t lanes, const PassTwiddles& twiddles);

/// Slots of `lanes` values: of every row `neighbours` side by side, `stride` values apart, rows `distance` values
/// apart.
struct SlotGrid {
  std::size_t distance;
  std::size_t stride;
  std::size_t rows;
  std::size_t neighbours;
  std::size_t lanes;
};
/// Slot i of row r to twiddles.place(r) of the i-th array of twiddles.size().
void take_rows(const F* from, const SlotGrid& grid, const PassTwiddles& twiddles, F* to);
/// Writes the rows that take_rows() has read back into their slots. `stream`: past the cache.
void put_rows(const F* from, const SlotGrid& grid, const PassTwiddles& twiddles, F* to, bool stream);
/// Rows of one array, `grid.neighbours` of them side by side, `grid.distance` values from these to the next ones.
void put_runs(const F* from, const SlotGrid& grid, const PassTwiddles& twiddles, F* to, bool stream);

}  // namespace tessera
