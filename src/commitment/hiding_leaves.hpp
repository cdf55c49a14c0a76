#pragma once

#include "commitment/codeword.hpp"
#include "commitment/schedule.hpp"
#include "hash/keyed_stream.hpp"

/// \file
/// What hiding oracles' leaves hold after the column.

namespace tessera {

/// Salt of the leaves at these positions: `count` elements each, as LeafExtras has them.
std::vector<F> salt_blocks(const KeyedStream& stream, std::size_t count, std::span<const std::size_t> positions);

/// Salt alone.
class SaltedLeaves final : public LeafExtras {
 public:
  SaltedLeaves(std::shared_ptr<const KeyedStream> salt, std::size_t count)
      : LeafExtras(count), salt_(std::move(salt)) {}
  void fill(const ResidueShares& positions, Range classes, std::span<F> blocks) const override;
  [[nodiscard]] std::vector<F> at(std::span<const std::size_t> positions, Communicator& comm) const override;

 private:
  std::shared_ptr<const KeyedStream> salt_;
};

/// Of the carrier (the last of the schedule's oracles): the masks of v_0's segments, its own first, then those of
/// oracle 0, 1, .., each at the power of the position's point that lies in its domain; then salt.
class MaskedLeaves final : public LeafExtras {
 public:
  /// `vector`: must outlive this.
  MaskedLeaves(const OpeningSchedule& schedule, const KeyedStream& vector, std::shared_ptr<const KeyedStream> salt,
               std::size_t salt_count);
  void fill(const ResidueShares& positions, Range classes, std::span<F> blocks) const override;
  /// Masks are encoded on the way: no block is kept.
  void pass(const ResidueShares& positions, std::size_t number, unsigned log_distance, std::size_t together,
            std::span<F> scratch, const Take& take) const override;
  [[nodiscard]] std::vector<F> at(std::span<const std::size_t> positions, Communicator& comm) const override;

 private:
  [[nodiscard]] std::size_t masks() const { return 2 * words_.size(); }
  /// Coefficients first, first + 1, .. of all masks, as polynomials in the carrier's points: [i * masks() + mask].
  void coefficients(std::size_t first, std::span<F> values) const;
  /// Those at the positions of a class, in all blocks.
  void fill_masks(const ResidueShares& positions, std::size_t number, std::span<F> blocks) const;

  std::vector<CommittedWord> words_;  // of the segments, the carrier's first
  const KeyedStream& vector_;
  std::shared_ptr<const KeyedStream> salt_;
  std::size_t salt_count_;
};

/// commit_oracle() of the last of the oracles, whose leaves are MaskedLeaves with as much salt as it says. `vector`
/// must outlive the store. Collective.
std::unique_ptr<CodewordStore> commit_carrier(std::span<const CommittedOracle> oracles,
                                              std::span<const IntegerTensor> tensors, const KeyedStream& vector,
                                              std::shared_ptr<const KeyedStream> salt, Communicator& comm,
                                              std::size_t budget = default_codeword_budget);

}  // namespace tessera
