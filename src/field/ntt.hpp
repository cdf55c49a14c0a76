#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include "base/bits.hpp"
#include "field/extension.hpp"
#include <vector>

namespace tessera {

class PassTwiddles;

/// Number-theoretic transform of `lanes` interleaved columns of length 2^log_length, in place and in parallel:
/// data[slot * lanes + lane], coefficient i of each column in slot bit_reverse(i); afterwards slot x holds the value
/// sum_i coefficient_i * omega^(x*i), omega = F::root_of_unity(log_length). An element of E is two lanes.
///
/// Only coefficients below 2^(log_length - log_padding) may be present: they lie in every 2^log_padding-th slot, the
/// other slots are not read (Reed-Solomon encoding at rate 2^-log_padding).
///
/// Slots may begin `stride` > lanes elements apart: what lies between them is neither read nor written.
///
/// Of a coset: slot x holds the value at w^(number + 2^log_count * x), w of order 2^(log_length + log_count).
struct Coset {
  std::size_t number = 0;  ///< < 2^log_count
  unsigned log_count = 0;
};
/// Coefficients first + i + (k << log_distance), i < neighbours, for all k.
struct CoefficientBlock {
  std::size_t first;
  std::size_t neighbours;
  unsigned log_distance;
  F* to;
  std::size_t size;  ///< values of a neighbour
  std::size_t lanes;
  const PassTwiddles& pass;  ///< 2^log_rows slots a neighbour

  /// Where the lanes of coefficient first + neighbour + (k << log_distance) begin, slot = bit_reverse(k, log_rows).
  [[nodiscard]] F* slot(std::size_t neighbour, std::size_t slot) const;
};
/// Puts coefficients into their slots when the transform comes to them: then they are still in the cache. Called by
/// many threads, for every coefficient that may be present once.
using PutCoefficients = std::function<void(const CoefficientBlock&)>;

void ntt(std::span<F> data, unsigned log_length, std::size_t lanes, unsigned log_padding = 0, std::size_t stride = 0,
         Coset coset = {}, const PutCoefficients& put = {});

/// The values at slots first + i + (r << log_distance), i < neighbours, for all r < rows.
struct ValueBlock {
  std::size_t first;
  std::size_t neighbours;
  unsigned log_distance;
  std::size_t rows;
  const F* from;
  std::size_t size;  ///< values of a neighbour
  std::size_t lanes;
  const PassTwiddles& pass;

  /// Where the lanes of slot first + neighbour + (row << log_distance) begin. Those of `together()` rows, from a
  /// multiple of it on, follow each other.
  [[nodiscard]] const F* slot(std::size_t neighbour, std::size_t row) const;
  [[nodiscard]] std::size_t together() const;
};
/// Takes values while they are in the cache. Called by many threads, once for every value; `neighbours` and `rows` are
/// the same in all calls, and `first` a multiple of `neighbours`.
using TakeValues = std::function<void(const ValueBlock&)>;

/// Transforms `lanes` columns whose coefficients `put` gives and whose values go to `take` and nowhere else. `scratch`:
/// lanes << log_length values.
void ntt(std::span<F> scratch, unsigned log_length, std::size_t lanes, unsigned log_padding, Coset coset,
         const PutCoefficients& put, const TakeValues& take);

}  // namespace tessera
