#pragma once

#include "subprotocols/inference.hpp"
#include "subprotocols/norm.hpp"

namespace tessera {

/// I = numerator/sigma, `bits` wide.
struct InverseRange {
  const std::string& title;
  std::int64_t numerator;
  unsigned bits;
};

/// I of some tokens of a column, numbered over all dimensions but the tokens, from their V; sigma and I are recorded
/// from token `first` on.
std::vector<std::int64_t> infer_inverse(const InferenceContext& context, const InverseRoot& root,
                                        const InverseRange& range, std::size_t column, std::size_t first,
                                        std::span<const std::int64_t> variance);

/// Where u goes: its tensor in the trace, and the batch's.
template <class T>
struct NormValues {
  const Recorded<T>& trace;
  std::vector<T>& values;
};

/// u = rshift(A, S) of a batch; this rank's rows of u and of the remainders are recorded. `row(f)` makes the function
/// that gives A of feature f by token.
template <class T, class Row>
void infer_values(const InferenceContext& context, const NormSpec& norm, const NormOutput& output, std::size_t block,
                  const Batch& batch, const NormValues<T>& to, const Row& row) {
  auto& [trace, values] = to;
  const std::size_t n = batch.size;
  const Bounds bounds = Bounds::signed_bits(norm.output_bits.bits);
  const std::vector<Dimension>& dimensions = norm.activation.dimensions();
  const Range features = context.owned(dimensions[dimensions.size() - 2]);
  // every rank needs all of u; computing it is cheaper than gathering it
  values.resize(batch.x.size());
#pragma omp parallel for schedule(static) if (worth_threads(norm.features, n))
  for (std::size_t f = 0; f < norm.features; ++f) {
    const auto accumulator = row(f);
    const bool record = context.recording() && features.contains(f);
    const std::span<std::int64_t> remainders = row_buffer<std::int64_t>(n);
    Extent extent;
    for (std::size_t t = 0; t < n; ++t) {
      const Rounded u = rshift(accumulator(t), norm.shift);
      extent.include(u.quotient);
      values[f * n + t] = static_cast<T>(u.quotient);
      remainders[t] = u.remainder;
    }
    settle(context,
           {output.output().clamp, norm.title, bounds, PlaceOfRow(norm.activation, block, f, batch.first),
            features.contains(f)},
           extent, std::span(values).subspan(f * n, n),
           [&](std::size_t t) { return rshift(accumulator(t), norm.shift).quotient; });
    if (record) {
      block_row((*context.trace)[trace], block, f).write(batch.first, std::span<const T>(values).subspan(f * n, n));
      block_row((*context.trace)[output.u_remainder], block, f).write(batch.first, remainders);
    }
  }
}

/// Infers the output of a norm into batch.u, of a wide norm into batch.wide_u.
template <class Row>
void infer_output(const InferenceContext& context, const NormSpec& norm, const NormOutput& output, std::size_t block,
                  Batch& batch, const Row& row) {
  if (norm.wide()) {
    infer_values(context, norm, output, block, batch, NormValues{output.wide_u, batch.wide_u}, row);
  } else {
    batch.wide_u.clear();
    infer_values(context, norm, output, block, batch, NormValues{output.u, batch.u}, row);
  }
}

}  // namespace tessera
