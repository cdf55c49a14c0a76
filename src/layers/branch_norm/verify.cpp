#include "layers/branch_norm/branch_norm.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

template <class S>
PointClaimOf<S> verify_branch_end(VerifierContext<S>& context, RangeId remainder, const std::optional<BranchNorm>& norm,
                                  const TensorPoint& at, std::type_identity_t<const S&> update) {
  if (!norm) {
    return {at, requantized_at_lookup(context, remainder, update)};
  }
  return run(context, norm->norm, PointClaimOf<S>{at, requantized_at_lookup(context, norm->remainder, update)});
}

#define INSTANTIATE(S)                                                                                       \
  template PointClaimOf<S> verify_branch_end(VerifierContext<S>&, RangeId, const std::optional<BranchNorm>&, \
                                             const TensorPoint&, const S&);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
