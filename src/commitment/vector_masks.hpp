#pragma once

#include "commitment/residue_shares.hpp"
#include "commitment/schedule.hpp"
#include "hash/keyed_stream.hpp"

namespace tessera {

/// What a hiding proof adds to its vectors (hiding_batch.hpp), all from one stream: of vector after vector the masks of
/// its rounds, then its random columns, 16 rows each; at the end the mask of the vector in clear.
class VectorMasks {
 public:
  /// `schedule` and `stream` must outlive this.
  VectorMasks(const OpeningSchedule& schedule, const KeyedStream& stream) : schedule_(schedule), stream_(stream) {}
  /// Elements of E in all.
  [[nodiscard]] std::uint64_t size() const { return first(schedule_.vectors.size()) + schedule_.clear_size; }
  /// Masks of the rounds over a vector's rows.
  [[nodiscard]] std::vector<E> of_rounds(std::size_t round) const;
  /// Fills the fresh columns of a vector; of `columns`, this rank's, each of 16 rows.
  void fill(std::size_t round, const ResidueShares& columns, std::span<E> values) const;
  /// The mask of the vector in clear.
  [[nodiscard]] std::vector<E> of_clear() const;

 private:
  /// Where a vector's elements begin.
  [[nodiscard]] std::uint64_t first(std::size_t round) const;

  const OpeningSchedule& schedule_;
  const KeyedStream& stream_;
};

}  // namespace tessera
