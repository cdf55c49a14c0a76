#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/matrix_product.hpp"
#include "subprotocols/norm.hpp"
#include "subprotocols/pad_products.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "subprotocols/kernels_prove.cpp"
#include <hwy/foreach_target.h>

#include "sumcheck/round_kernels-inl.hpp"

#ifndef TESSERA_FIXED_REDUCTION
#define TESSERA_FIXED_REDUCTION
namespace tessera {

/// The reduction with the number of tensors known to the compiler: a third faster.
template <std::size_t tensors>
struct FixedReduction {
  static constexpr bool homogeneous = true;
  static constexpr bool weighted = false;
  static constexpr std::size_t degree() { return 2; }
  static constexpr std::size_t factors() { return 2 * tensors; }
  auto operator()(const auto& v) const { return ReductionRelation{tensors}(v); }
};
using ReductionOfOne = FixedReduction<1>;
using ReductionOfTwo = FixedReduction<2>;
using ReductionOfThree = FixedReduction<3>;

}  // namespace tessera
#endif

TESSERA_ROUND_KERNEL(ReductionOfOne)
TESSERA_ROUND_KERNEL(ReductionOfTwo)
TESSERA_ROUND_KERNEL(ReductionOfThree)
TESSERA_ROUND_KERNEL(MatrixProductRelation)
TESSERA_ROUND_KERNEL(SquareRelation)

#if HWY_ONCE
namespace tessera {

RoundKernel round_kernel(const ReductionRelation& relation) {
  switch (relation.tensors) {
    case 1:
      return round_kernel(ReductionOfOne{});
    case 2:
      return round_kernel(ReductionOfTwo{});
    case 3:
      return round_kernel(ReductionOfThree{});
    default:
      return scalar_kernel(relation);
  }
}

// What is per token or per feature is short, and so are pads.
RoundKernel round_kernel(const RootRelation& relation) { return scalar_kernel(relation); }
RoundKernel round_kernel(const CentredGainRelation& relation) { return scalar_kernel(relation); }
RoundKernel round_kernel(const PadProductRelation& relation) { return scalar_kernel(relation); }

}  // namespace tessera
#endif
