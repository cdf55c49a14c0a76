#include "layers/rms_norm/rms_norm.hpp"
#include "subprotocols/norm_inference.hpp"

namespace tessera {

void infer(const InferenceContext& context, const RmsNormPlan& norm, std::size_t block, Batch& batch) {
  const std::size_t n = batch.size;
  std::vector<std::int64_t> variance(n, norm.epsilon);
  for (std::size_t f = 0; f < norm.features; ++f) {
    for (std::size_t t = 0; t < n; ++t) {
      const std::int64_t x = batch.x[f * n + t];
      variance[t] += x * x;
    }
  }
  const std::vector<std::int64_t> inverse =
      infer_inverse(context, norm, {norm.title, norm.norm_numerator, norm.inverse_bits}, block, batch.first, variance);
  const std::span<const std::int16_t> gamma = context.vector(norm.gamma, block);
  infer_output(context, norm, norm, block, batch, [&](std::size_t f) {
    return [x = batch.x.data() + f * n, scale = inverse.data(), gain = std::int64_t{gamma[f]}](std::size_t t) {
      return x[t] * scale[t] * gain;
    };
  });
}

}  // namespace tessera
