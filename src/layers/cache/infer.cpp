#include "layers/cache/cache.hpp"
#include "layers/qkv/qkv.hpp"
#include "subprotocols/inference.hpp"

namespace tessera {

void infer(const InferenceContext& context, const CachePlan& plan, const QkvCache& cache, std::size_t block,
           const Batch& batch) {
  if (plan.past == 0 || !context.recording()) {
    return;
  }
  const Range rows = context.owned(plan.sequence.dimensions()[1]);
  const std::size_t first = batch.first == 0 ? 0 : plan.past + batch.first;
  const std::size_t last = plan.past + batch.first + batch.size;
  for (std::size_t row = rows.first; row < rows.last; ++row) {
    const std::size_t from = cache.block_offset(block) + (row - cache.rows.first) * cache.capacity;
    std::copy(cache.k.begin() + static_cast<std::ptrdiff_t>(from + first),
              cache.k.begin() + static_cast<std::ptrdiff_t>(from + last),
              trace_row((*context.trace)[plan.keys], block, row) + first);
    std::copy(cache.v.begin() + static_cast<std::ptrdiff_t>(from + first),
              cache.v.begin() + static_cast<std::ptrdiff_t>(from + last),
              trace_row((*context.trace)[plan.values], block, row) + first);
  }
}

}  // namespace tessera
