#pragma once

#include "layers/attention/attention.hpp"

namespace tessera {

/// q*k^T in `count` neighbouring tiles of the scores (B,G,J,Q,K), of the same queries, exactly: (queries, keys of all
/// tiles) row-major, above the diagonal too. q and k have the heads padded, in chunks of tokens: of q whole tiles of
/// queries, of k one tile of keys each.
void multiply_tiles(const Shape& scores, std::size_t tile, std::size_t count, const ChunkedTensor<std::int16_t>& q,
                    const ChunkedTensor<std::int16_t>& k, std::span<double> products);

/// A tensor (B,G,..): each rank's copy of its own chunks and of all heads of which it owns a tile of the scores.
/// Collective.
template <class T>
ChunkedTensor<T> at_tiles(const ChunkedTensor<T>& tensor, const ChunkedTensor<std::int32_t>& scores,
                          Communicator& comm);

/// q and k of the heads of which this rank owns a tile, places padded to a power of two: views of what is recorded, or
/// copies where heads straddle chunks or ranks.
class PaddedHeads {
 public:
  /// Collective.
  PaddedHeads(const AttentionPlan& attention, const ChunkedTensor<std::int16_t>& q,
              const ChunkedTensor<std::int16_t>& k, const ChunkedTensor<std::int32_t>& scores, Communicator& comm);
  PaddedHeads(const PaddedHeads&) = delete;
  PaddedHeads& operator=(const PaddedHeads&) = delete;

  /// (B,G,J,P,T) or, where chunks are heads, (B,A,T).
  [[nodiscard]] const ChunkedTensor<std::int16_t>& q() const { return *q_; }
  /// (B,G,P,keys) or, where chunks are heads, (B,A,keys).
  [[nodiscard]] const ChunkedTensor<std::int16_t>& k() const { return *k_; }
  /// Who owns which tile.
  [[nodiscard]] const Ownership& tiles() const { return tiles_; }

 private:
  Ownership tiles_;
  ChunkedTensor<std::int16_t> padded_q_, padded_k_;  // (B,G,J,P,T), (B,G,P,keys)
  const ChunkedTensor<std::int16_t>* q_;
  const ChunkedTensor<std::int16_t>* k_;
};

}  // namespace tessera
