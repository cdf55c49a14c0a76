#include "sumcheck/product_relations.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sumcheck/product_kernels_prove.cpp"
#include <hwy/foreach_target.h>

#include "sumcheck/round_kernels-inl.hpp"

TESSERA_ROUND_KERNEL(ProductRelation)
TESSERA_ROUND_KERNEL(TripleProductRelation)
