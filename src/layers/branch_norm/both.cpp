#include "plan/sides.hpp"
#include "layers/branch_norm/branch_norm.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

template <class Side>
PointClaimFor<Side> branch_end(Side& context, RangeId remainder, const std::optional<BranchNorm>& norm,
                               const TensorPoint& at, const ScalarFor<Side>& update) {
  PointClaimFor<Side> end{at, requantized_at_lookup(context, norm ? RangeId(norm->remainder) : remainder, update)};
  return norm ? run(context, norm->norm, end) : end;
}

#define INSTANTIATE(Side)                                                                                       \
  template PointClaimFor<Side> branch_end(Side&, RangeId, const std::optional<BranchNorm>&, const TensorPoint&, \
                                          const ScalarFor<Side>&);
TESSERA_FOR_SIDES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
