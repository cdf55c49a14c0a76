#include "layers/cache/cache.hpp"

namespace tessera {

CachePlan CachePlan::declare(Builder& builder, CacheSpec spec) {
  CachePlan cache;
  static_cast<CacheSpec&>(cache) = std::move(spec);
  cache.keys = cache.k;
  cache.values = cache.v;
  if (cache.past > 0) {
    cache.keys = builder.record<std::int16_t>("keys", cache.sequence[state_keys], {1});
    cache.values = builder.record<std::int16_t>("values", cache.sequence[state_values], {1});
  }
  return cache;
}

}  // namespace tessera
