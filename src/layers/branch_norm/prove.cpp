#include "layers/branch_norm/branch_norm.hpp"
#include "plan/prover_context.hpp"

namespace tessera {

TensorPoint prove_branch_end(ProverContext& context, const std::optional<BranchNorm>& norm, const TensorPoint& at) {
  return norm ? run(context, norm->norm, PointClaim{at, E::zero()}).point : at;
}

}  // namespace tessera
