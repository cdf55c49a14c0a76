#include "layers/logits/dense.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "layers/logits/kernels_prove.cpp"
#include <hwy/foreach_target.h>

#include "sumcheck/round_kernels-inl.hpp"

TESSERA_ROUND_KERNEL(AttainedRelation)
