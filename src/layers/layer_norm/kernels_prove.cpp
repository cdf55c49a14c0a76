#include "layers/layer_norm/layer_norm.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "layers/layer_norm/kernels_prove.cpp"
#include <hwy/foreach_target.h>

#include "sumcheck/round_kernels-inl.hpp"

TESSERA_ROUND_KERNEL(NormRelation)

#if HWY_ONCE
namespace tessera {

/// Per-token columns are short.
RoundKernel round_kernel(const TokenRelation& relation) { return scalar_kernel(relation); }

}  // namespace tessera
#endif
