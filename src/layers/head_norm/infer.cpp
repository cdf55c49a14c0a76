#include "layers/head_norm/head_norm.hpp"

#include <algorithm>

#include "subprotocols/norm_inference.hpp"

namespace tessera {

void infer(const InferenceContext& context, const HeadNormPlan& norm, std::size_t block, Range rows, std::size_t first,
           std::size_t n, std::span<std::int64_t> sums) {
  const std::size_t m = norm.features;
  const std::size_t heads_of_block =
      norm.token.chunk_count() / (norm.token.dimensions()[0].length * norm.token.dimensions().back().chunk_count());
  const std::span<const std::int16_t> gamma = context.vector(norm.gamma, block);
#pragma omp parallel for schedule(static) if (sums.size() > parallel_work)
  for (std::size_t head = rows.first / m; head < rows.last / m; ++head) {
    std::int64_t* const values = sums.data() + (head * m - rows.first) * n;
    std::vector<std::int64_t> variance(n, norm.epsilon);
    std::vector<std::int16_t> narrow(n);
    const std::span<std::uint16_t> remainders = row_buffer<std::uint16_t>(n);
    for (std::size_t i = 0; i < m; ++i) {
      Extent extent;
      for (std::size_t t = 0; t < n; ++t) {
        const Rounded h = rshift(values[i * n + t], norm.shift);
        extent.include(h.quotient);
        narrow[t] = static_cast<std::int16_t>(h.quotient);  // so that nothing overflows after a violation
        remainders[t] = static_cast<std::uint16_t>(h.remainder);
      }
      settle(context, {norm.h.clamp, norm.title, int16_bounds, context.place(norm.head, block, head * m + i, first)},
             extent, std::span(narrow), [&](std::size_t t) { return rshift(values[i * n + t], norm.shift).quotient; });
      for (std::size_t t = 0; t < n; ++t) {
        values[i * n + t] = narrow[t];
        variance[t] += std::int64_t{narrow[t]} * narrow[t];
      }
      if (context.recording()) {
        block_row((*context.trace)[norm.h], block, head * m + i).write(first, narrow);
        block_row((*context.trace)[norm.h_remainder], block, head * m + i).write(first, remainders);
      }
    }
    const std::vector<std::int64_t> inverse =
        infer_inverse(context, norm, {norm.title, norm.norm_numerator, norm.inverse_bits},
                      block * heads_of_block + head, first, variance);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t t = 0; t < n; ++t) {
        values[i * n + t] *= inverse[t] * gamma[i];
      }
    }
  }
}

}  // namespace tessera
