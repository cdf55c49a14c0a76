#include "layers/grouped_qkv/grouped_qkv.hpp"
#include "layers/qkv/qkv.hpp"
#include "subprotocols/inference.hpp"

namespace tessera {
namespace {

/// One of q, k, v of a batch: rows of this rank.
struct Part {
  std::size_t number;  // q, k, v
  Range rows;
  std::int16_t* values;  // of row rows.first
  std::size_t stride;    // between rows

  [[nodiscard]] std::int16_t* row(std::size_t index) const { return values + (index - rows.first) * stride; }
};

/// W*u + bias*2^b, (rows, batch).
std::vector<std::int64_t> accumulate(const InferenceContext& context, const GroupedQkvPlan& qkv, const Part& part,
                                     const ProductInput& input, std::size_t block) {
  std::vector<std::int64_t> sums(part.rows.size() * input.columns());
  const std::optional<ParameterId> bias_id = qkv.bias[part.number];
  std::span<const std::int16_t> bias_of;
  if (bias_id) {
    bias_of = context.vector(*bias_id, block);
  }
  multiply(context.parameters[qkv.weight[part.number]].block(block), part.rows, input,
           [&](std::size_t row, std::span<const std::int64_t> products) {
             const std::int64_t bias = bias_id ? std::int64_t{bias_of[row]} << qkv.bias_shift[part.number] : 0;
             std::ranges::transform(
                 products, sums.begin() + static_cast<std::ptrdiff_t>((row - part.rows.first) * products.size()),
                 [bias](std::int64_t product) { return product + bias; });
           });
  return sums;
}

/// Turns all heads of (rows, batch): |sums| < 2^47, so that nothing leaves 64 bits.
void rotate(const Rotary& rotary, std::size_t block, std::span<std::int64_t> sums, std::size_t batch,
            std::size_t first) {
  const std::size_t head_size = 2 * rotary.half * batch;
  const std::size_t pairs = batch == 0 ? 0 : sums.size() / (2 * batch);
#pragma omp parallel for schedule(static) if (sums.size() > parallel_work)
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const std::size_t i = pair % rotary.half;
    std::int64_t* low = sums.data() + pair / rotary.half * head_size + i * batch;
    std::int64_t* high = low + rotary.half * batch;
    for (std::size_t t = 0; t < batch; ++t) {
      const std::int64_t cos = rotary.cos(rotary.table_of(block), first + t)[i];
      const std::int64_t sin = rotary.sin(rotary.table_of(block), first + t)[i];
      const std::int64_t x = low[t];
      const std::int64_t y = high[t];
      low[t] = x * cos - y * sin;
      high[t] = y * cos + x * sin;
    }
  }
}

/// rshift of (rows, n), of rows of the sequence from `first` on, recorded.
void round(const InferenceContext& context, const GroupedQkvPlan& qkv, const Part& part,
           std::span<const std::int64_t> sums, std::size_t block, std::size_t first, std::size_t n) {
#pragma omp parallel for schedule(static) if (worth_threads(part.rows.size(), n))
  for (std::size_t row = part.rows.first; row < part.rows.last; ++row) {
    const std::int64_t* from = sums.data() + (row - part.rows.first) * n;
    std::int16_t* values = part.row(row);
    const std::span<std::int64_t> remainders = row_buffer<std::int64_t>(n);
    Extent extent;
    for (std::size_t t = 0; t < n; ++t) {
      const Rounded y = rshift(from[t], qkv.shift[part.number]);
      extent.include(y.quotient);
      values[t] = static_cast<std::int16_t>(y.quotient);
      remainders[t] = y.remainder;
    }
    settle(context,
           {qkv.value[part.number].clamp, qkv_names[part.number], int16_bounds,
            PlaceOfRow(qkv.shape[part.number], block, row, first)},
           extent, std::span(values, n),
           [&](std::size_t t) { return rshift(from[t], qkv.shift[part.number]).quotient; });
    if (context.recording()) {
      block_row((*context.trace)[qkv.value[part.number]], block, row)
          .write(first, std::span<const std::int16_t>(values, n));
      block_row((*context.trace)[qkv.remainder[part.number]], block, row).write(first, remainders);
    }
  }
}

}  // namespace

void infer(const InferenceContext& context, const GroupedQkvPlan& qkv, std::size_t block, const Batch& batch,
           QkvCache& cache) {
  const Range tokens = cache.tokens(batch);
  if (tokens.size() == 0) {
    return;
  }
  const ProductInput input = batch.input(tokens);
  cache.q.resize(cache.queries.size() * batch.size);
  const std::size_t first = batch.first + tokens.first;
  const std::size_t cached = cache.block_offset(block) + cache.past + first;
  const std::array parts{Part{0, cache.queries, cache.q.data() + tokens.first, batch.size},
                         Part{1, cache.rows, cache.k.data() + cached, cache.capacity},
                         Part{2, cache.rows, cache.v.data() + cached, cache.capacity}};
  for (const Part& part : parts) {
    std::vector<std::int64_t> sums = accumulate(context, qkv, part, input, block);
    if (part.number < 2) {
      if (qkv.head_norm[part.number]) {
        infer(context, *qkv.head_norm[part.number], block, part.rows, first, tokens.size(), sums);
      }
      rotate(qkv.rotary, block, sums, tokens.size(), first);
    }
    round(context, qkv, part, sums, block, first, tokens.size());
  }
}

}  // namespace tessera
