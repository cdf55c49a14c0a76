#include "layers/qkv/qkv.hpp"
#include "subprotocols/inference.hpp"

namespace tessera {

void infer(const InferenceContext& context, const QkvPlan& qkv, std::size_t block, const Batch& batch,
           QkvCache& cache) {
  const Range tokens = cache.tokens(batch);
  if (tokens.size() == 0) {
    return;
  }
  const ProductInput input = batch.input(tokens);
  const Range kept = cache.team.size > 1 ? cache.rows : context.owned(qkv.qkv.dimensions()[1]);
  cache.q.resize(cache.queries.size() * batch.size);
  const std::size_t cached = cache.block_offset(block) + cache.past + batch.first + tokens.first;
  struct Place {
    std::int16_t* values;
    std::size_t stride;
  };
  const std::array places{Place{cache.q.data() + tokens.first, batch.size},
                          Place{cache.k.data() + cached, cache.capacity},
                          Place{cache.v.data() + cached, cache.capacity}};
  for (std::size_t i = 0; i < 3; ++i) {
    project<std::int16_t>(context, {qkv_names[i], qkv.weight[i], qkv.bias[i], qkv.shift[i], qkv.bias_shift[i]}, input,
                          {cache.rows, places[i].values, places[i].stride, kept, qkv.value[i], qkv.remainder[i],
                           qkv.qkv, qkv.value[i].clamp},
                          block, batch.first + tokens.first);
  }
}

}  // namespace tessera
