#include "layers/head_norm/head_norm.hpp"
#include "plan/witness.hpp"

namespace tessera {

void derive(Witness& witness, const HeadNormPlan& norm) {
  // chunks of both shapes are (block, head), held by the same rank
  const ChunkedTensor<std::int16_t>& h = witness[norm.h];
  auto& square_sum = witness[norm.square_sum];
  const std::size_t tokens = norm.token.chunk_size();
  for (const std::size_t chunk : square_sum.held()) {
    const std::span<const std::int16_t> values = h.chunk(chunk);
    const std::span<std::int64_t> sums = square_sum.chunk(chunk);
    for (std::size_t i = 0; i < values.size(); ++i) {
      sums[i % tokens] += std::int64_t{values[i]} * values[i];
    }
  }
  std::vector<std::uint64_t> variance;
  for (const std::int64_t sum : square_sum.values()) {
    variance.push_back(static_cast<std::uint64_t>(sum + norm.epsilon));
  }
  derive(witness, norm, norm.norm_numerator, variance);
}

}  // namespace tessera
