#include "layers/grouped_qkv/grouped_qkv.hpp"
#include "layers/qkv/qkv.hpp"

namespace tessera {

GroupedQkvPlan GroupedQkvPlan::declare(Builder& builder, GroupedQkvSpec spec) {
  GroupedQkvPlan qkv;
  static_cast<GroupedQkvSpec&>(qkv) = std::move(spec);
  const Ownership by_head{1, Deal::all};
  for (std::size_t i = 0; i < 2; ++i) {
    if (qkv.norm[i]) {
      qkv.head_norm[i] = HeadNormPlan::declare(builder, *qkv.norm[i], by_head,
                                               qkv.norm[i]->token.dimensions().size() == 2 ? Ownership{} : by_head);
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    qkv.value[i] = builder.value<std::int16_t>(qkv_names[i], qkv.shape[i], by_head, 16, true);
    builder.clamp(qkv.value[i], qkv.shift[i]);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    qkv.remainder[i] =
        builder.remainder<std::int64_t>(qkv_names[i] + "_remainder", qkv.shape[i], by_head, qkv.shift[i]);
  }
  return qkv;
}

}  // namespace tessera
