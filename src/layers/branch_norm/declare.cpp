#include "layers/branch_norm/branch_norm.hpp"

namespace tessera {

BranchNorm BranchNorm::declare(Builder& builder, const BranchNormSpec& spec) {
  const Ownership by_feature{1};
  BranchNorm norm;
  norm.norm = BranchNormPlan::declare(builder, spec, by_feature, {});
  norm.remainder = builder.update_remainder<std::int64_t>(spec.remainder_name, spec.value, by_feature, spec.out_shift);
  norm.out_shift = spec.out_shift;
  return norm;
}

}  // namespace tessera
