#include "subprotocols/norm_inference.hpp"

namespace tessera {

std::vector<std::int64_t> infer_inverse(const InferenceContext& context, const InverseRoot& root,
                                        const InverseRange& range, std::size_t column, std::size_t first,
                                        std::span<const std::int64_t> variance) {
  std::vector<std::int64_t> inverse(variance.size());
  std::vector<std::int64_t> roots(variance.size());
  for (std::size_t t = 0; t < variance.size(); ++t) {
    const std::int64_t sigma = roots[t] = floor_sqrt(variance[t]);
    inverse[t] = range.numerator / sigma;
    context.guard.check(range.title + " sigma", sigma, Bounds::unsigned_bits(31));
    context.guard.check(range.title + " inverse", inverse[t], Bounds::unsigned_bits(range.bits));
  }
  if (context.recording()) {
    token_row((*context.trace)[root.sigma], column).write(first, roots);
    token_row((*context.trace)[root.inverse], column).write(first, inverse);
  }
  return inverse;
}

}  // namespace tessera
