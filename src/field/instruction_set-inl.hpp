// What is known of an instruction set beyond what Highway says of it, compiled once for every one (see
// foreach_target.h).
#if defined(TESSERA_INSTRUCTION_SET_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_INSTRUCTION_SET_INL
#undef TESSERA_INSTRUCTION_SET_INL
#else
#define TESSERA_INSTRUCTION_SET_INL
#endif

#include <hwy/highway.h>

#undef TESSERA_IFMA
#if HWY_TARGET == HWY_AVX3_DL
// Every processor of this set (from Ice Lake and Zen 4 on) multiplies 52-bit integers and adds products of 16-bit pairs
// with these, too.
#define TESSERA_IFMA
#undef HWY_TARGET_STR
#define HWY_TARGET_STR \
  HWY_TARGET_STR_AVX3  \
  ",vpclmulqdq,avx512vbmi,avx512vbmi2,vaes,avxvnni,avx512bitalg,avx512vpopcntdq,avx512ifma,avx512vnni"
#endif

#endif

#if HWY_ONCE && HWY_ARCH_X86 && !defined(TESSERA_INSTRUCTION_SET)
#define TESSERA_INSTRUCTION_SET
#include <hwy/targets.h>

namespace tessera {
/// A virtual machine may keep them from its guests.
inline const bool ice_lake_is_there = [] {
  __builtin_cpu_init();
  const bool there = __builtin_cpu_supports("avx512ifma") != 0 && __builtin_cpu_supports("avx512vnni") != 0;
  if (!there) {
    hwy::DisableTargets(HWY_AVX3_DL);
  }
  return there;
}();
}  // namespace tessera
#endif
