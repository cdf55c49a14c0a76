#pragma once

#include "hash/keyed_stream.hpp"
#include "words/codeword_store.hpp"

/// \file
/// What leaves of hiding oracles hold after the column.

namespace tessera {

/// Salt of the leaves at these positions: `count` elements each, as LeafExtras has them.
std::vector<F> salt_blocks(const KeyedStream& stream, std::size_t count, std::span<const std::size_t> positions);

/// Salt alone, by leaf.
class SaltedLeaves final : public LeafExtras {
 public:
  SaltedLeaves(std::shared_ptr<const KeyedStream> salt, std::size_t count)
      : LeafExtras(count), salt_(std::move(salt)) {}
  void fill(const WordDomain& domain, const ResidueShares& positions, Range classes,
            std::span<F> blocks) const override;
  [[nodiscard]] std::vector<F> at(std::span<const std::size_t> positions) const override;

 private:
  /// Neighbouring leaves: the i-th is at omega^(exponent + i*step).
  struct Run {
    std::size_t first, count, exponent, step;
  };
  void fill(const Run& leaves, const ResidueShares& positions, Range classes, std::span<F> blocks) const;

  std::shared_ptr<const KeyedStream> salt_;
};

}  // namespace tessera
