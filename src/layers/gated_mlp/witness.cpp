#include "layers/gated_mlp/gated_mlp.hpp"
#include "plan/witness.hpp"

namespace tessera {

void derive(Witness& witness, const GatedMlpPlan& mlp, Communicator& comm) {
  if (mlp.normed) {
    derive(witness, mlp.normed->norm, comm);
  }
  witness.set_input(mlp.activation, witness[mlp.z], 1U << (mlp.gate_bits - 1));
  const ChunkedTensor<std::int32_t>& a_of = witness[mlp.activation];
  const ChunkedTensor<std::int64_t>& sum_of = witness[mlp.up_sum];
  const ChunkedTensor<std::int32_t>& product_of = witness[mlp.product];
  witness.set_range(mlp.product_remainder, product_of.ownership(),
                    [&a_of, &sum_of, &product_of, shift = mlp.shift_product,
                     clamped = excess_by_chunk(mlp.inner, witness.exceptions_of(mlp.product.clamp))](
                        std::size_t chunk, std::span<std::int64_t> values) {
                      const auto a = a_of.chunk(chunk);
                      const auto sum = sum_of.chunk(chunk);
                      const auto product = product_of.chunk(chunk);
                      const std::int64_t half = std::int64_t{1} << (shift - 1);
                      for (std::size_t x = 0; x < values.size(); ++x) {
                        values[x] = a[x] * sum[x] + half - (std::int64_t{product[x]} << shift);
                      }
                      if (const auto found = clamped.find(chunk); found != clamped.end()) {
                        for (const PlacedExcess& place : found->second) {
                          values[place.inner] -= place.excess << shift;
                        }
                      }
                    });
}

}  // namespace tessera
