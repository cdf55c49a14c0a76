#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/matrix_product.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "subprotocols/kernels_prove.cpp"
#include <hwy/foreach_target.h>

#include "sumcheck/round_kernels-inl.hpp"

TESSERA_ROUND_KERNEL(ReductionRelation)
TESSERA_ROUND_KERNEL(MatrixProductRelation)
