#include "subprotocols/norm.hpp"

namespace tessera {

void InverseRoot::commit(Builder& builder, const std::string& name, const Shape& shape, Ownership ownership) {
  sigma = builder.committed<std::int32_t>(name + "/sigma", shape, ownership);
  inverse = builder.committed<std::int32_t>(name + "/inverse", shape, ownership);
}

void InverseRoot::check(Builder& builder, const std::string& name, const Shape& shape, unsigned inverse_bits,
                        Ownership ownership) {
  builder.check(sigma, 31);
  root_remainder = builder.derived_value(name + "/root_remainder", shape, ownership, 32);
  root_complement = builder.derived_value(name + "/root_complement", shape, ownership, 32);
  builder.check(inverse, {inverse_bits, "w_I"});
  inverse_remainder = builder.derived_value(name + "/inverse_remainder", shape, ownership, 31);
  inverse_complement = builder.derived_value(name + "/inverse_complement", shape, ownership, 31);
}

void NormOutput::declare_output(Builder& builder, const NormSpec& spec) {
  const Ownership by_feature{spec.activation.dimensions().size() - 2};
  is_wide_ = spec.wide();
  const std::string name = spec.name + "/u";
  if (is_wide_) {
    wide_u = builder.value<std::int32_t>(name, spec.activation, by_feature, spec.output_bits, true);
    builder.clamp(wide_u, spec.shift);
  } else {
    u = builder.value<std::int16_t>(name, spec.activation, by_feature, spec.output_bits, true);
    builder.clamp(u, spec.shift);
  }
  u_remainder = builder.remainder<std::int64_t>(spec.name + "/u_remainder", spec.activation, by_feature, spec.shift);
  square_sum = builder.derive(spec.name + "/square_sum", spec.token, {});
}

}  // namespace tessera
