#include "arithmetic/distribution_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "arithmetic/distribution_kernels.cpp"
#include <hwy/foreach_target.h>

#include "field/instruction_set-inl.hpp"

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Calls step(tag, row, its logits, token) for each vector of each row's tokens, and each token behind them.
template <class T, class Step>
void for_vectors(const LogitRows& logits, const Step& step) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t row = 0; row < logits.rows; ++row) {
    const std::int64_t* const of_row = logits.values + row * logits.stride;
    std::size_t t = 0;
    for (; t + lanes <= logits.tokens; t += lanes) {
      step(d, row, of_row + t, t);
    }
    for (; t < logits.tokens; ++t) {
      step(hn::CappedTag<T, 1>(), row, of_row + t, t);
    }
  }
}

void take(const LogitRows& logits, std::int64_t* largest, std::int64_t* where) {
  for_vectors<std::int64_t>(logits, [&](auto d, std::size_t row, const std::int64_t* values, std::size_t t) HWY_ATTR {
    const auto logit = hn::LoadU(d, values);
    const auto known = hn::LoadU(d, largest + t);
    const auto above = hn::Gt(logit, known);
    const auto here = hn::Set(d, static_cast<std::int64_t>(row));
    hn::StoreU(hn::IfThenElse(above, logit, known), d, largest + t);
    hn::StoreU(hn::IfThenElse(above, here, hn::LoadU(d, where + t)), d, where + t);
  });
}

void add(const LogitRows& logits, const std::int64_t* largest, double scale, double* sums) {
  for_vectors<double>(logits, [&](auto d, std::size_t, const std::int64_t* values, std::size_t t) HWY_ATTR {
    const hn::RebindToSigned<decltype(d)> integers;
    const auto difference = hn::Sub(hn::LoadU(integers, values), hn::LoadU(integers, largest + t));
    const auto exponent = hn::Mul(hn::ConvertTo(d, difference), hn::Set(d, scale));
    hn::StoreU(hn::Add(hn::LoadU(d, sums + t), hn::Exp(d, exponent)), d, sums + t);
  });
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
HWY_EXPORT(take);
HWY_EXPORT(add);

void take_largest(const LogitRows& logits, std::int64_t* largest, std::int64_t* where) {
  HWY_DYNAMIC_DISPATCH(take)(logits, largest, where);
}

void add_exponentials(const LogitRows& logits, const std::int64_t* largest, double scale, double* sums) {
  HWY_DYNAMIC_DISPATCH(add)(logits, largest, scale, sums);
}

}  // namespace tessera
#endif
