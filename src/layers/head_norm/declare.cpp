#include "layers/head_norm/head_norm.hpp"

namespace tessera {

HeadNormPlan HeadNormPlan::declare(Builder& builder, HeadNormSpec spec) {
  HeadNormPlan norm;
  static_cast<HeadNormSpec&>(norm) = std::move(spec);
  const Ownership by_head{1, Deal::all};
  norm.commit(builder, norm.name, norm.token, by_head);
  norm.check(builder, norm.name, norm.token, norm.inverse_bits, by_head);
  norm.h = builder.value<std::int16_t>(norm.name + "/h", norm.head, by_head, 16, true);
  builder.clamp(norm.h, norm.shift);
  norm.h_remainder = builder.remainder<std::uint16_t>(norm.name + "/h_remainder", norm.head, by_head, norm.shift);
  norm.square_sum = builder.derive(norm.name + "/square_sum", norm.token, by_head);
  return norm;
}

}  // namespace tessera
