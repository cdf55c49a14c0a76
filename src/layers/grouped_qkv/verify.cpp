#include "layers/grouped_qkv/grouped_qkv.hpp"
#include "layers/qkv/qkv.hpp"
#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/matrix_product.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

template <class S>
std::vector<WeightedClaimOf<S>> run(VerifierContext<S>& context, const GroupedQkvPlan& qkv,
                                    const QkvClaimsOf<S>& consumers) {
  VerifierView<S>& transcript = context.transcript;
  const auto scope = transcript.scope("qkv");
  // the left sides of the rshifts
  std::vector<PointClaimOf<S>> sums;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto part = transcript.scope(qkv_names[i]);
    ReductionInputOf<S> input{consumers[i]};
    input.claims.insert(input.claims.begin(),
                        {weight_at(context.lookup.point(qkv.shape[i])), context.lookup.value(qkv.value[i])});
    add_limit_claim(context.exceptions, qkv.value[i].clamp, input.claims);
    const ReducedClaimsOf<S> reduced = verify_claim_reduction(transcript, qkv.shape[i], std::span(&input, 1));
    const S rounded = reduced.values.front() + context.exceptions.excess_at(qkv.value[i].clamp, reduced.point);
    sums.push_back({reduced.point, verify_requantization(context, qkv.remainder[i], reduced.point, rounded)});
  }
  // q's and k's before the rotation
  std::ranges::move(verify_rotation(context, qkv.rotary, std::span(sums).first(2)), sums.begin());
  for (std::size_t i = 0; i < 2; ++i) {
    if (qkv.head_norm[i]) {
      const auto part = transcript.scope(qkv_names[i]);
      sums[i] = run(context, *qkv.head_norm[i], sums[i]);
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const auto part = transcript.scope(qkv_names[i]);
    if (qkv.bias[i]) {
      sums[i].value -= verify_bias(context, "bias", *qkv.bias[i], qkv.bias_shift[i], qkv.shape[i], sums[i].point);
    }
  }
  std::vector<WeightedClaimOf<S>> claims;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto part = transcript.scope(qkv_names[i]);
    const MatrixProductShape matrix{
        {qkv.weight[i]}, qkv.shape[i].dimensions()[0].bits(), qkv.feature.dimensions()[1].bits()};
    const PointClaimOf<S> u =
        verify_matrix_product(context, matrix, sums[i].point, std::span<const S>(&sums[i].value, 1));
    claims.push_back({weight_at(u.point), u.value});
  }
  return claims;
}

#define INSTANTIATE(S) \
  template std::vector<WeightedClaimOf<S>> run(VerifierContext<S>&, const GroupedQkvPlan&, const QkvClaimsOf<S>&);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
