#include "layers/stream_input/stream_input.hpp"
#include "subprotocols/inference.hpp"

namespace tessera {

void infer(const InferenceContext& context, const StreamInput& input, std::size_t block, Batch& batch) {
  const std::size_t n = batch.size;
  const Bounds bounds = Bounds::signed_bits(input.bits.bits);
  const Range features = context.owned(input.feature.dimensions()[1]);
  batch.wide_u.resize(batch.x.size());
#pragma omp parallel for schedule(static) if (worth_threads(batch.x.size() / n, n))
  for (std::size_t f = 0; f < batch.x.size() / n; ++f) {
    const std::int32_t* const x = batch.x.data() + f * n;
    const std::span<std::int32_t> u = std::span(batch.wide_u).subspan(f * n, n);
    const std::span<std::uint16_t> remainders = row_buffer<std::uint16_t>(n);
    Extent extent;
    for (std::size_t t = 0; t < n; ++t) {
      const Rounded rounded = rshift(x[t], input.shift);
      extent.include(rounded.quotient);
      u[t] = static_cast<std::int32_t>(rounded.quotient);
      remainders[t] = static_cast<std::uint16_t>(rounded.remainder);
    }
    settle(context,
           {input.u.clamp, input.name, bounds, PlaceOfRow(input.feature, block, f, batch.first), features.contains(f)},
           extent, u, [&](std::size_t t) { return rshift(x[t], input.shift).quotient; });
    if (context.recording() && features.contains(f)) {
      block_row((*context.trace)[input.u], block, f).write(batch.first, std::span<const std::int32_t>(u));
      block_row((*context.trace)[input.remainder], block, f).write(batch.first, remainders);
    }
  }
}

}  // namespace tessera
