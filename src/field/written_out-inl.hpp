// Loops of a known length that are written out, compiled once for every instruction set (see Highway's
// foreach_target.h): include it from a file that is itself such an include.
#if defined(TESSERA_WRITTEN_OUT_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_WRITTEN_OUT_INL
#undef TESSERA_WRITTEN_OUT_INL
#else
#define TESSERA_WRITTEN_OUT_INL
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

/// Makes the compiler write lambdas out that it would call otherwise, with vectors through memory.
#undef TESSERA_WRITTEN_OUT
#define TESSERA_WRITTEN_OUT __attribute__((always_inline))

/// body(std::integral_constant of i) for i < count, written out.
template <std::size_t count, class Body>
HWY_INLINE void unrolled(const Body& body) {
  [&]<std::size_t... i>(std::index_sequence<i...>) TESSERA_WRITTEN_OUT {
    (body(std::integral_constant<std::size_t, i>{}), ...);
  }
  (std::make_index_sequence<count>{});
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
