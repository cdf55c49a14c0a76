#include "counting_relation.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sumcheck/counting_relation.cpp"
#include <hwy/foreach_target.h>

#include "sumcheck/round_kernels-inl.hpp"

TESSERA_ROUND_KERNEL(CountingRelation)
