#pragma once

#include "commitment/codeword.hpp"
#include "commitment/schedule.hpp"
#include "hash/keyed_stream.hpp"

/// \file
/// What leaves of hiding oracles, and of a hiding opening's last vector, hold after the column.

namespace tessera {

/// Salt of the leaves at these positions: `count` elements each, as LeafExtras has them.
std::vector<F> salt_blocks(const KeyedStream& stream, std::size_t count, std::span<const std::size_t> positions);

/// Salt alone.
class SaltedLeaves final : public LeafExtras {
 public:
  SaltedLeaves(std::shared_ptr<const KeyedStream> salt, std::size_t count)
      : LeafExtras(count), salt_(std::move(salt)) {}
  void fill(const ResidueShares& positions, Range classes, std::span<F> blocks) const override;
  [[nodiscard]] std::vector<F> at(std::span<const std::size_t> positions) const override;

 private:
  std::shared_ptr<const KeyedStream> salt_;
};

/// What the leaves of the last vector's word hold after the column: at each point the value of the polynomial that
/// masks the vector in clear.
std::shared_ptr<const LeafExtras> clear_mask_leaves(std::span<const E> mask, const CommittedWord& word);

}  // namespace tessera
