#pragma once

#include <cstddef>
#include <span>
#include <tessera/field/extension.hpp>
#include <vector>

namespace tessera {

/// The low `bits` bits of `index`, reversed.
constexpr std::size_t bit_reverse(std::size_t index, unsigned bits) {
  std::size_t reversed = 0;
  for (unsigned i = 0; i < bits; ++i) {
    reversed = reversed << 1 | (index >> i & 1);
  }
  return reversed;
}

/// Number-theoretic transform of `lanes` interleaved columns of length 2^log_length, in place and in parallel:
/// data[slot * lanes + lane], coefficient i of each column in slot bit_reverse(i); afterwards slot x holds the value
/// sum_i coefficient_i * omega^(x*i), omega = F::root_of_unity(log_length). An element of E is two lanes.
///
/// Only coefficients below 2^(log_length - log_padding) may be present: they lie in every 2^log_padding-th slot, the
/// other slots are not read (Reed-Solomon encoding at rate 2^-log_padding).
void ntt(std::span<F> data, unsigned log_length, std::size_t lanes, unsigned log_padding = 0);

/// The transform's values at few `positions` only: values[i * lanes + lane], much cheaper than all. `data` as for
/// ntt(); it is scratch memory afterwards.
std::vector<F> ntt_at(std::span<F> data, unsigned log_length, std::size_t lanes, unsigned log_padding,
                      std::span<const std::size_t> positions);

}  // namespace tessera
