#include "integer_model/distribution_kernels.hpp"

#include <cmath>

using std::isnan;  // Highway's code for single lanes names it without a namespace

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "integer_model/distribution_kernels.cpp"
#include <hwy/foreach_target.h>

#include "field/instruction_set-inl.hpp"

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void take(const std::int64_t* logits, std::int64_t row, std::size_t tokens, std::int64_t* largest,
          std::int64_t* where) {
  const auto some = [&](auto d, std::size_t t) {
    const auto logit = hn::LoadU(d, logits + t);
    const auto known = hn::LoadU(d, largest + t);
    const auto above = hn::Gt(logit, known);
    hn::StoreU(hn::IfThenElse(above, logit, known), d, largest + t);
    hn::StoreU(hn::IfThenElse(above, hn::Set(d, row), hn::LoadU(d, where + t)), d, where + t);
  };
  const hn::ScalableTag<std::int64_t> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t t = 0;
  for (; t + lanes <= tokens; t += lanes) {
    some(d, t);
  }
  for (; t < tokens; ++t) {
    some(hn::CappedTag<std::int64_t, 1>(), t);
  }
}

void add(const std::int64_t* logits, const std::int64_t* largest, double scale, std::size_t tokens, double* sums) {
  const auto some = [&](auto d, std::size_t t) {
    const hn::RebindToSigned<decltype(d)> integers;
    const auto difference = hn::Sub(hn::LoadU(integers, logits + t), hn::LoadU(integers, largest + t));
    const auto exponent = hn::Mul(hn::ConvertTo(d, difference), hn::Set(d, scale));
    hn::StoreU(hn::Add(hn::LoadU(d, sums + t), hn::Exp(d, exponent)), d, sums + t);
  };
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t t = 0;
  for (; t + lanes <= tokens; t += lanes) {
    some(d, t);
  }
  for (; t < tokens; ++t) {
    some(hn::CappedTag<double, 1>(), t);
  }
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
HWY_EXPORT(take);
HWY_EXPORT(add);

void take_largest(const std::int64_t* logits, std::int64_t row, std::size_t tokens, std::int64_t* largest,
                  std::int64_t* where) {
  HWY_DYNAMIC_DISPATCH(take)(logits, row, tokens, largest, where);
}

void add_exponentials(const std::int64_t* logits, const std::int64_t* largest, double scale, std::size_t tokens,
                      double* sums) {
  HWY_DYNAMIC_DISPATCH(add)(logits, largest, scale, tokens, sums);
}

}  // namespace tessera
#endif
