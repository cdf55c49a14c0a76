// Masked sums and differences of 64-bit lanes: one instruction where the machine has it, which Highway does not offer.
#if defined(TESSERA_MASKED_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_MASKED_INL
#undef TESSERA_MASKED_INL
#else
#define TESSERA_MASKED_INL
#endif

#include <hwy/highway.h>

#include "field/instruction_set-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

/// a + b in the lanes of `mask`, a in the others.
template <class Mask, class Vector>
HWY_INLINE Vector add_where(Mask mask, Vector a, Vector b) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return Vector{_mm512_mask_add_epi64(a.raw, mask.raw, a.raw, b.raw)};
#else
  return hwy::HWY_NAMESPACE::Add(a, hwy::HWY_NAMESPACE::IfThenElseZero(mask, b));
#endif
}
/// a - b in the lanes of `mask`, a in the others.
template <class Mask, class Vector>
HWY_INLINE Vector subtract_where(Mask mask, Vector a, Vector b) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return Vector{_mm512_mask_sub_epi64(a.raw, mask.raw, a.raw, b.raw)};
#else
  return hwy::HWY_NAMESPACE::Sub(a, hwy::HWY_NAMESPACE::IfThenElseZero(mask, b));
#endif
}

#ifdef TESSERA_IFMA
/// sum + the low 52 bits of the product of the low 52 bits of a and b.
template <class Vector>
HWY_INLINE Vector add_low_52(Vector sum, Vector a, Vector b) {
  return Vector{_mm512_madd52lo_epu64(sum.raw, a.raw, b.raw)};
}
/// sum + the other 52 bits of it.
template <class Vector>
HWY_INLINE Vector add_high_52(Vector sum, Vector a, Vector b) {
  return Vector{_mm512_madd52hi_epu64(sum.raw, a.raw, b.raw)};
}
#endif

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
