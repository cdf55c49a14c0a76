#include "layers/cache/cache.hpp"
#include "plan/witness.hpp"
#include "tensor/redistribute.hpp"

namespace tessera {
namespace {

/// The first `positions` of a sequence, as a state.
ChunkedTensor<std::int16_t> state_of(const ChunkedTensor<std::int16_t>& sequence, const Shape& state,
                                     std::size_t positions, Communicator& comm) {
  const Ownership by_row{1};  // as files have them
  const bool moves = comm.size() > 1 && sequence.ownership() != by_row;
  ChunkedTensor<std::int16_t> rows;
  if (moves) {
    rows = redistribute(
        sequence, by_row, [&](int rank) { return owned_chunks(sequence.shape(), by_row, rank, comm.size()); }, comm);
  }
  const ChunkedTensor<std::int16_t>& source = moves ? rows : sequence;
  ChunkedTensor<std::int16_t> result(state, by_row, comm.rank(), comm.size());
  const Dimension& tiles = sequence.shape().dimensions().back();
  const std::size_t to_stride = state.dimensions().back().chunk();
  for (const std::size_t chunk : result.held()) {  // a state has all positions in one
    const auto to = result.chunk(chunk);
    for (std::size_t first = 0; first < positions; first += tiles.chunk()) {
      const auto from = source.chunk(chunk * tiles.chunk_count() + (first >> tiles.log_chunk));
      for (std::size_t row = 0; row < from.size() / tiles.chunk(); ++row) {
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(row * tiles.chunk()),
                    std::min(tiles.chunk(), positions - first),
                    to.begin() + static_cast<std::ptrdiff_t>(row * to_stride + first));
      }
    }
  }
  return result;
}

}  // namespace

void derive(Witness& witness, const CachePlan& cache, Communicator& comm) {
  for (const StateTensor tensor : {state_keys, state_values}) {
    const auto& sequence = witness[tensor == state_keys ? cache.keys : cache.values];
    if (cache.past > 0) {
      witness.past.push_back(state_of(sequence, cache.state[tensor], cache.past, comm));
    }
    if (cache.added > 0) {
      witness.kept.push_back(state_of(sequence, cache.state[tensor], cache.past + cache.added, comm));
    }
  }
}

}  // namespace tessera
