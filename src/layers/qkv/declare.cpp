#include "layers/qkv/qkv.hpp"

namespace tessera {

QkvPlan QkvPlan::declare(Builder& builder, QkvSpec spec) {
  QkvPlan qkv;
  static_cast<QkvSpec&>(qkv) = std::move(spec);
  const Ownership by_feature{1, Deal::all};
  for (std::size_t i = 0; i < 3; ++i) {
    qkv.value[i] = builder.value<std::int16_t>(qkv_names[i], qkv.qkv, by_feature, 16, true);
    builder.clamp(qkv.value[i], qkv.shift[i]);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    qkv.remainder[i] = builder.remainder<std::uint16_t>(qkv_names[i] + "_remainder", qkv.qkv, by_feature, qkv.shift[i]);
  }
  return qkv;
}

}  // namespace tessera
