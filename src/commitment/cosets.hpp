#pragma once

#include <bit>
#include "base/bits.hpp"
#include "cluster/communicator.hpp"
#include "tensor/chunked_tensor.hpp"

namespace tessera {

/// How ranks share an evaluation domain of 2^log_domain points while they encode: positions with the same low
/// log_count() bits are a coset, whose values follow from the coefficients by a short transform, so that no value of a
/// codeword moves between ranks. One coset, the whole domain, if the rank is alone.
class Cosets {
 public:
  Cosets() = default;
  Cosets(unsigned log_domain, int rank, int ranks)
      : log_domain_(log_domain),
        log_count_(std::min(log_domain, log_parts(ranks))),
        ranks_(ranks),
        mine_(contiguous_range(std::size_t{1} << log_count_, rank, ranks)) {}

  [[nodiscard]] unsigned log_count() const { return log_count_; }
  /// log2 of the positions of a coset.
  [[nodiscard]] unsigned log_size() const { return log_domain_ - log_count_; }
  /// Numbers of this rank's cosets, possibly none.
  [[nodiscard]] Range mine() const { return mine_; }
  /// Positions of this rank.
  [[nodiscard]] std::size_t size() const { return mine_.size() << log_size(); }
  [[nodiscard]] int owner(std::size_t position) const {
    return contiguous_owner(coset(position), std::size_t{1} << log_count_, ranks_);
  }
  /// Where a position stands among its owner's: coset after coset, ascending.
  [[nodiscard]] std::size_t place(std::size_t position) const {
    const std::size_t first = contiguous_range(std::size_t{1} << log_count_, owner(position), ranks_).first;
    return ((coset(position) - first) << log_size()) + (position >> log_count_);
  }

 private:
  /// Where ranks are no power of two, half as many positions again would be the busiest one's.
  static unsigned log_parts(int ranks) {
    const auto count = static_cast<std::size_t>(ranks);
    return ceil_log2(count) + (std::has_single_bit(count) ? 0 : 1);
  }
  [[nodiscard]] std::size_t coset(std::size_t position) const {
    return position & ((std::size_t{1} << log_count_) - 1);
  }

  unsigned log_domain_ = 0;
  unsigned log_count_ = 0;
  int ranks_ = 1;
  Range mine_{0, 1};
};

}  // namespace tessera
