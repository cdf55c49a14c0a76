#pragma once

#include <functional>

#include "field/ntt_kernels.hpp"

namespace tessera {

/// Values of a padded transform (see ntt()) at few positions, from its coefficients a part at a time: much cheaper than
/// the transform, and in a cache. Part r has the coefficients i with i mod parts() = r. With W = parts(),
///
///   sum_i c_i*omega^(x*i) = sum_r omega^(x*r) * sum_k c_(r + W*k)*(omega^W)^(x*k),
///
/// whose inner sum is entry (x mod 2^log_length/W) of a short transform of part r.
class PointEvaluation {
 public:
  PointEvaluation(unsigned log_length, std::size_t lanes, unsigned log_padding, std::span<const std::size_t> positions);
  [[nodiscard]] unsigned log_parts() const { return log_parts_; }
  [[nodiscard]] std::size_t parts() const { return std::size_t{1} << log_parts_; }
  /// Values of a part, for all lanes, and gaps between them.
  [[nodiscard]] std::size_t part_size() const { return twiddles_.size(lanes_); }
  /// Parts that are best placed at once: as many as a cache holds.
  [[nodiscard]] std::size_t parts_at_once() const;
  /// Where the lanes of coefficient i begin in its part. Places of no coefficient are not read.
  [[nodiscard]] std::size_t place(std::size_t i) const {
    return twiddles_.place(bit_reverse(i >> log_parts_, log_rows_), lanes_);
  }
  /// The parts first, first + stride, ...
  struct Parts {
    std::size_t first = 0;
    std::size_t stride = 1;
  };
  /// Adds parts, one after the other; they are scratch memory afterwards. In parallel.
  void add(Parts which, std::span<F> parts);
  /// Adds `count` parts, each in a thread's own cache: fill(part, its memory) writes the lanes of all its coefficients.
  /// In parallel.
  void add(Parts which, std::size_t count, const std::function<void(std::size_t part, F* rows)>& fill);
  /// values()[i * lanes + lane] at positions[i], of the parts added so far.
  [[nodiscard]] std::span<const F> values() const { return values_; }

 private:
  /// rows_of(i, part): where the i-th part's values are; they become scratch memory.
  template <class RowsOf>
  void add_parts(Parts which, std::size_t count, const RowsOf& rows_of);

  std::size_t lanes_;
  unsigned log_rows_;
  unsigned log_parts_;
  std::vector<std::size_t> rows_;  ///< of a part, for each position
  std::vector<F> steps_;           ///< omega^position
  PassTwiddles twiddles_;
  std::vector<F> values_;
};

}  // namespace tessera
