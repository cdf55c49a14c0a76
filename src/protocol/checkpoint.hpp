#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hash/blake2s.hpp"

namespace tessera {

/// What a proving job's finished phases have come to: equal on every rank, and the same for any number of ranks. With
/// it the rest of the job gives the payload that an uninterrupted one gives.
struct ProofCheckpoint {
  std::vector<std::uint32_t> generated;  // ids chosen so far
  std::vector<Digest> witness_nodes;     // of the witness's tree: compact_nodes() of them; empty: not committed yet
  std::vector<Digest> kept_nodes;        // likewise of the state that is kept
  std::vector<std::uint8_t> lookups;     // messages up to the end of the look-ups; empty: not finished
  std::vector<std::uint8_t> layers;      // messages up to the opening; empty: not finished
};

/// The phases that such a checkpoint can be taken after.
enum class ProofPhase : std::uint8_t { inference, commitment, lookups, layers };

/// Told what there is after a phase. Called on every rank.
using PhaseListener = std::function<void(ProofPhase, const ProofCheckpoint&)>;

}  // namespace tessera
