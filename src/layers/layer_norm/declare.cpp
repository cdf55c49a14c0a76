#include "layers/layer_norm/layer_norm.hpp"

#include <algorithm>

namespace tessera {

LayerNormPlan LayerNormPlan::declare(Builder& builder, LayerNormSpec spec) {
  LayerNormPlan norm;
  static_cast<LayerNormSpec&>(norm) = std::move(spec);
  const Ownership replicated;
  const Ownership by_feature{norm.activation.dimensions().size() - 2};
  const auto name = [&](const char* tensor) { return norm.name + "/" + tensor; };
  const Width mean_bits{std::max(1U, ceil_log2(norm.features)), "max(1, ⌈log2 d⌉)"};
  norm.mu = builder.committed<std::int32_t>(name("mu"), norm.token, replicated);
  norm.sigma = builder.committed<std::int32_t>(name("sigma"), norm.token, replicated);
  norm.inverse = builder.committed<std::int32_t>(name("inverse"), norm.token, replicated);
  builder.check(norm.mu, {norm.residual_bits, "w_x"}, true);
  norm.mean_remainder = builder.derived_value(name("mean_remainder"), norm.token, replicated, mean_bits);
  norm.mean_complement = builder.derived_value(name("mean_complement"), norm.token, replicated, mean_bits);
  builder.check(norm.sigma, 31);
  norm.root_remainder = builder.derived_value(name("root_remainder"), norm.token, replicated, 32);
  norm.root_complement = builder.derived_value(name("root_complement"), norm.token, replicated, 32);
  builder.check(norm.inverse, {norm.inverse_bits, "w_I"});
  norm.inverse_remainder = builder.derived_value(name("inverse_remainder"), norm.token, replicated, 31);
  norm.inverse_complement = builder.derived_value(name("inverse_complement"), norm.token, replicated, 31);
  norm.u = builder.value<std::int16_t>(name("u"), norm.activation, by_feature, 16, true);
  norm.u_remainder = builder.remainder<std::int64_t>(name("u_remainder"), norm.activation, by_feature, norm.shift);
  norm.square_sum = builder.derive(name("square_sum"), norm.token, replicated);
  return norm;
}

}  // namespace tessera
