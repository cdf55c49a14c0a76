#pragma once

#include <memory>

#include "words/codeword.hpp"
#include "words/residue_shares.hpp"
#include "opening/schedule.hpp"
#include "hash/keyed_stream.hpp"

namespace tessera {

/// What a hiding proof adds to its vectors (masking.hpp), all from one stream: of vector after vector the masks of
/// its rounds, then its random columns, 16 rows each; at the end the mask of the vector in clear. A prover that adds
/// something else derives from this.
class VectorMasks {
 public:
  /// `stream` must outlive this.
  explicit VectorMasks(const KeyedStream& stream) : stream_(stream) {}
  virtual ~VectorMasks() = default;
  VectorMasks(const VectorMasks&) = delete;
  VectorMasks& operator=(const VectorMasks&) = delete;

  /// Elements of E in all.
  [[nodiscard]] static std::uint64_t size(const OpeningSchedule& schedule);
  /// Masks of the rounds over a vector's rows.
  [[nodiscard]] std::vector<E> of_rounds(const OpeningSchedule& schedule, std::size_t round) const;
  /// Fills the fresh columns of a vector; of `columns`, this rank's, each of 16 rows.
  virtual void fill(const OpeningSchedule& schedule, std::size_t round, const ResidueShares& columns,
                    std::span<E> values) const;
  /// The mask of the vector in clear.
  [[nodiscard]] std::vector<E> of_clear(const OpeningSchedule& schedule) const;
  /// What follows the last vector's columns in their leaves: that mask.
  [[nodiscard]] virtual std::shared_ptr<const LeafExtras> of_leaves(const OpeningSchedule& schedule) const;

 protected:
  /// Elements first, first + 1, .. of the stream; asked for each time that they are needed.
  [[nodiscard]] virtual std::vector<E> elements(std::uint64_t first, std::size_t count) const;

 private:
  const KeyedStream& stream_;
};

}  // namespace tessera
