#include "layers/value_norm/value_norm.hpp"

#include <algorithm>

#include "subprotocols/norm_inference.hpp"

namespace tessera {
namespace {

/// Some rows of a block, (rows, tokens first .. first + n).
struct Rows {
  std::size_t block = 0;
  Range rows;
  std::size_t first = 0, n = 0;
  std::span<std::int64_t> sums;

  [[nodiscard]] std::int64_t* of(std::size_t row) const { return sums.data() + (row - rows.first) * n; }
};

/// h of rows [some.first, some.last) in the place of A; their squares are added by token.
template <class T>
void round(const InferenceContext& context, const ValueNormPlan<T>& norm, const Rows& rows, Range some,
           std::span<std::int64_t> squares) {
  const std::size_t n = rows.n;
  const Bounds bounds = Bounds::signed_bits(norm.bits.bits);
  std::vector<T> narrow(n);
  const std::span<std::uint16_t> remainders = row_buffer<std::uint16_t>(n);
  for (std::size_t row = some.first; row < some.last; ++row) {
    std::int64_t* const values = rows.of(row);
    Extent extent;
    for (std::size_t t = 0; t < n; ++t) {
      const Rounded h = rshift(values[t], norm.shift);
      extent.include(h.quotient);
      narrow[t] = static_cast<T>(h.quotient);  // so that nothing overflows after a violation
      remainders[t] = static_cast<std::uint16_t>(h.remainder);
    }
    settle(context, {norm.h.clamp, norm.title, bounds, PlaceOfRow(norm.value, rows.block, row, rows.first)}, extent,
           std::span(narrow), [&](std::size_t t) { return rshift(values[t], norm.shift).quotient; });
    for (std::size_t t = 0; t < n; ++t) {
      narrow[t] = static_cast<T>(std::clamp<std::int64_t>(narrow[t], bounds.low, bounds.high));
      values[t] = narrow[t];
      squares[t] += std::int64_t{narrow[t]} * narrow[t];
    }
    if (context.recording()) {
      block_row((*context.trace)[norm.h], rows.block, row).write(rows.first, narrow);
      block_row((*context.trace)[norm.h_remainder], rows.block, row).write(rows.first, remainders);
    }
  }
}

/// Gains of a block by normed place.
std::vector<std::int64_t> gains_of(const InferenceContext& context, const ValueNormSpec& norm, std::size_t block) {
  const std::span<const std::int16_t> gamma = context.vector(norm.gamma, block);
  std::vector<std::int64_t> gains(gamma.begin(), gamma.end());
  if (const auto low = norm.gamma_low()) {
    std::ranges::transform(
        gains, context.vector(*low, block), gains.begin(),
        [](std::int64_t high, std::int64_t piece) { return high * (std::int64_t{1} << gain_piece_bits) + piece; });
  }
  return gains;
}

/// P in the place of h; gains by normed place, from that of row some.first on.
void scale(const Rows& rows, Range some, std::span<const std::int64_t> inverse, std::span<const std::int64_t> gains) {
  for (std::size_t row = some.first; row < some.last; ++row) {
    std::int64_t* const values = rows.of(row);
    for (std::size_t t = 0; t < rows.n; ++t) {
      values[t] *= inverse[t] * gains[row - some.first];
    }
  }
}

/// A norm of all rows of all ranks. Rows are rounded side by side, in pieces whose squares are added at the end.
template <class T>
void infer_together(const InferenceContext& context, const ValueNormPlan<T>& norm, const Rows& rows) {
  std::vector<std::int64_t> variance(rows.n);
#pragma omp parallel if (rows.sums.size() > parallel_work)
  {
    std::vector<std::int64_t> squares(rows.n);
#pragma omp for schedule(static)
    for (std::size_t row = rows.rows.first; row < rows.rows.last; ++row) {
      round(context, norm, rows, {row, row + 1}, squares);
    }
#pragma omp critical(tessera_norm_squares)
    std::ranges::transform(variance, squares, variance.begin(), std::plus<>());
  }
  context.comm.all_reduce_sum(std::span(variance));
  for (std::int64_t& value : variance) {
    value += norm.epsilon;
  }
  const std::vector<std::int64_t> inverse = infer_inverse(
      context, norm, {norm.title, norm.norm_numerator, norm.inverse_bits}, rows.block, rows.first, variance);
  const std::vector<std::int64_t> gains = gains_of(context, norm, rows.block);
#pragma omp parallel for schedule(static) if (rows.sums.size() > parallel_work)
  for (std::size_t row = rows.rows.first; row < rows.rows.last; ++row) {
    scale(rows, {row, row + 1}, inverse, std::span(gains).subspan(row, 1));
  }
}

}  // namespace

void infer(const InferenceContext& context, const HeadNormPlan& norm, std::size_t block, Range rows, std::size_t first,
           std::size_t n, std::span<std::int64_t> sums) {
  const Rows all{block, rows, first, n, sums};
  const std::size_t m = norm.features;
  const std::size_t columns_of_block =
      norm.token.chunk_count() / (norm.token.dimensions()[0].length * norm.token.dimensions().back().chunk_count());
  if (norm.token.dimensions().size() == 2) {
    infer_together(context, norm, all);
    return;
  }
  const std::vector<std::int64_t> gains = gains_of(context, norm, block);
#pragma omp parallel for schedule(static) if (sums.size() > parallel_work)
  for (std::size_t head = rows.first / m; head < rows.last / m; ++head) {
    const Range of_head{head * m, (head + 1) * m};
    std::vector<std::int64_t> variance(n, norm.epsilon);
    round(context, norm, all, of_head, variance);
    const std::vector<std::int64_t> inverse =
        infer_inverse(context, norm, {norm.title, norm.norm_numerator, norm.inverse_bits},
                      block * columns_of_block + head, first, variance);
    scale(all, of_head, inverse, gains);
  }
}

void infer(const InferenceContext& context, const BranchNormPlan& norm, std::size_t block, Range rows,
           std::size_t first, std::size_t n, std::span<std::int64_t> sums) {
  infer_together(context, norm, {block, rows, first, n, sums});
}

}  // namespace tessera
