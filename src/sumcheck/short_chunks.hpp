#pragma once

#include <optional>

#include "memory/storage.hpp"
#include "sumcheck/round_kernel.hpp"

namespace tessera {

/// What is left of many chunks of a sum-check when few inner variables are: a table a factor, chunk after chunk. Pairs
/// of several chunks fill a kernel's vectors then, which those of one would not.
class ShortChunks {
 public:
  /// Worth it for so many variables, the one that is bound next among them, and chunks.
  static constexpr unsigned most_variables = 5;
  static constexpr std::size_t least_chunks = 32;

  /// Copies 2^variables values of factor k of chunk i from tables[i * kernel.factors + k]. `chunk_weights`: of chunks;
  /// empty: the relation has no weights, and is homogeneous. Both kernel and weights must outlive this.
  ShortChunks(const RoundKernel& kernel, std::span<E* const> tables, std::span<const E> chunk_weights,
              unsigned variables);
  /// Binds the lowest variable, of two or more, then gives the next round's sums; `at`: the coordinates of the
  /// variables above the next one, if there are weights.
  RoundSums bind(E challenge, bool with_one, std::span<const E> at);
  /// Binds the last variable.
  void end(E challenge);
  /// Factor k of a chunk, all variables bound.
  [[nodiscard]] E value(std::size_t chunk, std::size_t k) const { return tables_[k * padded_ + chunk]; }

 private:
  [[nodiscard]] RoundWeights weights(std::span<const E> at, std::size_t first, std::size_t chunks) const;
  /// body(first chunk, chunks) for parts of all chunks; the sum of its sums.
  template <class Body>
  RoundSums sum_parts(const Body& body) const;

  RoundKernel kernel_;
  std::span<const E> chunk_weights_;
  std::size_t padded_;   // chunks, with some of zeros behind them
  unsigned variables_;   // that are left
  RawVector<E> tables_;  // factor after factor
};

}  // namespace tessera
