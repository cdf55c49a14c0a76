#include "layers/cache/cache.hpp"
#include "layers/qkv/qkv.hpp"
#include "subprotocols/inference.hpp"

namespace tessera {

void load(const CachePlan& plan, const std::vector<ChunkedTensor<std::int16_t>>& past, QkvCache& cache,
          Communicator& comm) {
  for (const StateTensor tensor : {state_keys, state_values}) {
    std::vector<std::int16_t>& to = tensor == state_keys ? cache.k : cache.v;
    const ChunkedTensor<std::int16_t>& from = past.at(tensor);
    const Shape& shape = from.shape();
    const std::size_t blocks = shape.dimensions().front().length;
    const std::size_t chunks = shape.chunk_count() / blocks;
    const std::size_t stride = shape.dimensions().back().chunk();
    for (std::size_t block = 0; block < blocks; ++block) {
      std::vector<std::int16_t> mine;
      for (std::size_t chunk = block * chunks; chunk < (block + 1) * chunks; ++chunk) {
        if (from.holds(chunk)) {
          const auto rows = from.chunk(chunk);
          mine.insert(mine.end(), rows.begin(), rows.end());
        }
      }
      const std::vector<std::int16_t> all = comm.size() == 1 ? std::move(mine) : comm.all_gather<std::int16_t>(mine);
      for (std::size_t row = cache.rows.first; row < cache.rows.last; ++row) {
        const RowPlace place = row_place(shape, 0, row);
        const std::size_t first = place.chunk * shape.chunk_size() + place.row * stride;
        std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(first), plan.past,
                    to.begin() + static_cast<std::ptrdiff_t>(cache.block_offset(block) +
                                                             (row - cache.rows.first) * cache.capacity));
      }
    }
  }
}

void infer(const InferenceContext& context, const CachePlan& plan, const QkvCache& cache, std::size_t block,
           const Batch& batch) {
  if (plan.past == 0 || !context.recording()) {
    return;
  }
  const std::size_t first = batch.first == 0 ? 0 : plan.past + batch.first;
  const std::size_t last = plan.past + batch.first + batch.size;
  for (const StateTensor tensor : {state_keys, state_values}) {
    const std::vector<std::int16_t>& from = tensor == state_keys ? cache.k : cache.v;
    ChunkedTensor<std::int16_t>& to = (*context.trace)[tensor == state_keys ? plan.keys : plan.values];
    const Range rows = context.owned(plan.sequence[tensor]);
    for (std::size_t row = rows.first; row < rows.last; ++row) {
      const std::size_t at = cache.block_offset(block) + (row - cache.rows.first) * cache.capacity;
      block_row(to, block, row).write(first, std::span<const std::int16_t>(from).subspan(at + first, last - first));
    }
  }
}

}  // namespace tessera
