#include "arithmetic/score_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "arithmetic/score_kernels.cpp"
#include <hwy/foreach_target.h>

#include "field/instruction_set-inl.hpp"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

Extent round_scores_kernel(const std::int64_t* products, std::size_t count, int shift, std::int32_t* scores,
                           std::uint16_t* remainders) {
  const hn::ScalableTag<std::int64_t> d;
  const hn::RebindToUnsigned<decltype(d)> bits;
  const hn::Rebind<std::uint32_t, decltype(d)> of_scores;
  const hn::Rebind<std::uint16_t, decltype(d)> of_remainders;
  auto* const words = reinterpret_cast<std::uint32_t*>(scores);
  const std::size_t lanes = hn::Lanes(d);
  const std::int64_t half = std::int64_t{1} << (shift - 1);
  const std::int64_t mask = 2 * half - 1;
  auto low = hn::Set(d, INT64_MAX);
  auto high = hn::Set(d, INT64_MIN);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto sum = hn::Add(hn::LoadU(d, products + i), hn::Set(d, half));
    const auto z = hn::ShiftRightSame(sum, shift);
    low = hn::Min(low, z);
    high = hn::Max(high, z);
    hn::StoreU(hn::TruncateTo(of_scores, hn::BitCast(bits, z)), of_scores, words + i);
    if (remainders != nullptr) {
      const auto rest = hn::BitCast(bits, hn::And(sum, hn::Set(d, mask)));
      hn::StoreU(hn::TruncateTo(of_remainders, rest), of_remainders, remainders + i);
    }
  }
  Extent extent{hn::GetLane(hn::MinOfLanes(d, low)), hn::GetLane(hn::MaxOfLanes(d, high))};
  for (; i < count; ++i) {
    const std::int64_t sum = products[i] + half;
    extent.include(sum >> shift);
    scores[i] = static_cast<std::int32_t>(sum >> shift);
    if (remainders != nullptr) {
      remainders[i] = static_cast<std::uint16_t>(sum & mask);
    }
  }
  return extent;
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
HWY_EXPORT(round_scores_kernel);

Extent round_scores(const std::int64_t* products, std::size_t count, int shift, std::int32_t* scores,
                    std::uint16_t* remainders) {
  return HWY_DYNAMIC_DISPATCH(round_scores_kernel)(products, count, shift, scores, remainders);
}

}  // namespace tessera
#endif
