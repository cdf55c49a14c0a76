#include "plan/sides.hpp"
#include "layers/grouped_qkv/grouped_qkv.hpp"
#include "layers/qkv/qkv.hpp"
#include "subprotocols/matrix_product.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

template <class Side>
std::vector<WeightedClaimFor<Side>> run(Side& context, const GroupedQkvPlan& qkv,
                                        const QkvClaimsOf<ScalarFor<Side>>& consumers) {
  auto& transcript = context.transcript;
  const auto scope = transcript.scope("qkv");
  // the left sides of the rshifts
  std::vector<PointClaimFor<Side>> sums;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto part = transcript.scope(qkv_names[i]);
    sums.push_back(requantized_claims(context, qkv.value[i], qkv.remainder[i], consumers[i]));
  }
  // q's and k's before the rotation
  const std::array<RotatedValues, 2> rotated{RotatedValues{qkv.value[0], qkv.remainder[0]},
                                             RotatedValues{qkv.value[1], qkv.remainder[1]}};
  std::ranges::move(unrotated(context, qkv.rotary, std::span(sums).first(2), rotated), sums.begin());
  for (std::size_t i = 0; i < 2; ++i) {
    if (qkv.head_norm[i]) {
      const auto part = transcript.scope(qkv_names[i]);
      sums[i] = run(context, *qkv.head_norm[i], sums[i]);
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const auto part = transcript.scope(qkv_names[i]);
    subtract_bias(context, "bias", qkv.bias[i], qkv.bias_shift[i], qkv.shape[i], sums[i]);
  }
  const MatrixInput u{qkv.u, qkv.feature};  // q and k share its token without norms
  std::vector<WeightedClaimFor<Side>> claims;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto part = transcript.scope(qkv_names[i]);
    const auto input = matrix_product(context, qkv.weight[i], sums[i], u);
    claims.push_back({weight_at(input.point), input.value});
  }
  return claims;
}

#define INSTANTIATE(Side) \
  template std::vector<WeightedClaimFor<Side>> run(Side&, const GroupedQkvPlan&, const QkvClaimsOf<ScalarFor<Side>>&);
TESSERA_FOR_SIDES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
