#pragma once

#include "layers/attention/attention.hpp"
#include "tensor/chunked_factor.hpp"

namespace tessera {

/// q and k held by head, places padded to a power of two: views of the witness's, or copies where heads straddle
/// chunks.
class PaddedHeads {
 public:
  /// Collective.
  PaddedHeads(const AttentionPlan& attention, const Witness& witness, Communicator& comm);
  PaddedHeads(const PaddedHeads&) = delete;
  PaddedHeads& operator=(const PaddedHeads&) = delete;

  /// A = q*k^T of all tiles; a view of this.
  [[nodiscard]] TileProduct score_product() const { return {scores_, q_, k_}; }

 private:
  Shape scores_;
  ChunkedTensor<std::int16_t> padded_q_, padded_k_;  // (B,G,J,P,T), (B,G,P,keys)
  const ChunkedTensor<std::int16_t>* q_;
  const ChunkedTensor<std::int16_t>* k_;
};

}  // namespace tessera
