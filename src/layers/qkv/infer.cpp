#include "layers/qkv/qkv.hpp"
#include "subprotocols/inference.hpp"

namespace tessera {

QkvCache::QkvCache(Range asking, Range cached, std::size_t blocks, std::size_t before, std::size_t positions)
    : queries(asking),
      rows(cached),
      capacity(positions),
      past(before),
      k(blocks * cached.size() * positions),
      v(k.size()) {}

void infer(const InferenceContext& context, const QkvPlan& qkv, std::size_t block, const Batch& batch,
           QkvCache& cache) {
  const ProductInput input(batch.u, batch.u.size() / batch.size, batch.size);
  const Range kept = context.owned(qkv.qkv.dimensions()[1]);
  cache.q.resize(cache.queries.size() * batch.size);
  const std::size_t cached = cache.block_offset(block) + cache.past + batch.first;
  struct Place {
    std::int16_t* values;
    std::size_t stride;
  };
  const std::array places{Place{cache.q.data(), batch.size}, Place{cache.k.data() + cached, cache.capacity},
                          Place{cache.v.data() + cached, cache.capacity}};
  for (std::size_t i = 0; i < 3; ++i) {
    project(context, {qkv_names[i], qkv.weight[i], qkv.bias[i], qkv.shift[i], qkv.bias_shift[i]}, input,
            {cache.rows, places[i].values, places[i].stride, kept, qkv.value[i], qkv.remainder[i]}, block, batch.first);
  }
}

}  // namespace tessera
