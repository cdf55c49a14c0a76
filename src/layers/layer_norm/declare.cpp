#include "layers/layer_norm/layer_norm.hpp"

#include <algorithm>

namespace tessera {

LayerNormPlan LayerNormPlan::declare(Builder& builder, LayerNormSpec spec) {
  LayerNormPlan norm;
  static_cast<LayerNormSpec&>(norm) = std::move(spec);
  const Ownership replicated;
  const auto name = [&](const char* tensor) { return norm.name + "/" + tensor; };
  const Width mean_bits{std::max(1U, ceil_log2(norm.features)), "max(1, ⌈log2 d⌉)"};
  norm.mu = builder.committed<std::int32_t>(name("mu"), norm.token, replicated);
  norm.commit(builder, norm.name, norm.token);
  builder.check(norm.mu, {norm.residual_bits, "w_x"}, true);
  norm.mean_remainder = builder.derived_value(name("mean_remainder"), norm.token, replicated, mean_bits);
  norm.mean_complement = builder.derived_value(name("mean_complement"), norm.token, replicated, mean_bits);
  norm.check(builder, norm.name, norm.token, norm.inverse_bits);
  norm.declare_output(builder, norm);
  return norm;
}

}  // namespace tessera
