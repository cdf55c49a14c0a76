#pragma once

#include <bit>
#include "base/bits.hpp"
#include "field/ntt.hpp"
#include "tensor/chunked_tensor.hpp"

namespace tessera {

/// How ranks share 2^log_indices indices: those with the same low log_count() bits are a class, which has these bits as
/// its number, and every rank has neighbouring classes. All of them are one class if the rank is alone.
///
/// Of an evaluation domain a class is a coset, whose values follow from all coefficients by a short transform: while
/// ranks encode, no value of a codeword moves. Of the columns of a vector a class is what a part of a PointEvaluation
/// is made of, and binding rows stays inside a column.
class ResidueShares {
 public:
  ResidueShares() = default;
  ResidueShares(unsigned log_indices, int rank, int ranks)
      : log_indices_(log_indices),
        log_count_(std::min(log_indices, log_classes(ranks))),
        ranks_(ranks),
        mine_(contiguous_range(std::size_t{1} << log_count_, rank, ranks)) {}
  /// 2^log_count classes of an evaluation domain, all of one rank that is alone.
  static ResidueShares alone(unsigned log_indices, unsigned log_count) {
    ResidueShares shares(log_indices, 0, 1);
    shares.log_count_ = log_count;
    shares.mine_ = {0, std::size_t{1} << log_count};
    return shares;
  }

  /// One class of 2^log_count, and nothing else.
  static ResidueShares single(unsigned log_indices, unsigned log_count, std::size_t number) {
    ResidueShares shares = alone(log_indices, log_count);
    shares.mine_ = {number, number + 1};
    return shares;
  }

  [[nodiscard]] unsigned log_indices() const { return log_indices_; }
  [[nodiscard]] unsigned log_count() const { return log_count_; }
  /// log2 of the indices of a class.
  [[nodiscard]] unsigned log_size() const { return log_indices_ - log_count_; }
  /// This rank's classes, possibly none.
  [[nodiscard]] Range mine() const { return mine_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  /// Indices of this rank.
  [[nodiscard]] std::size_t size() const { return mine_.size() << log_size(); }
  [[nodiscard]] std::size_t class_of(std::size_t index) const { return index & ((std::size_t{1} << log_count_) - 1); }
  [[nodiscard]] int owner(std::size_t index) const {
    return contiguous_owner(class_of(index), std::size_t{1} << log_count_, ranks_);
  }
  /// Where an index stands if those of all ranks come one after the other: class after class, ascending.
  [[nodiscard]] std::size_t gathered_place(std::size_t index) const {
    return (class_of(index) << log_size()) + (index >> log_count_);
  }
  /// Where an index of this rank stands among its own.
  [[nodiscard]] std::size_t own_place(std::size_t index) const {
    return gathered_place(index) - (mine_.first << log_size());
  }
  /// Where an index stands among its owner's.
  [[nodiscard]] std::size_t place(std::size_t index) const {
    const std::size_t first = contiguous_range(std::size_t{1} << log_count_, owner(index), ranks_).first;
    return gathered_place(index) - (first << log_size());
  }

 private:
  /// Where ranks are no power of two, twice as many classes make the busiest rank's share less uneven.
  static unsigned log_classes(int ranks) {
    const auto count = static_cast<std::size_t>(ranks);
    return ceil_log2(count) + (std::has_single_bit(count) ? 0 : 1);
  }

  unsigned log_indices_ = 0;
  unsigned log_count_ = 0;
  int ranks_ = 1;
  Range mine_{0, 1};
};

}  // namespace tessera
