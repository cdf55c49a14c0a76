#include "layers/rms_norm/rms_norm.hpp"
#include "layers/value_norm/value_norm.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

template <class S, class T>
PointClaimOf<S> run(VerifierContext<S>& context, const ValueNormPlan<T>& norm,
                    std::type_identity_t<const PointClaimOf<S>&> product) {
  VerifierView<S>& transcript = context.transcript;
  const auto scope = transcript.scope("norm");
  // V and I of each token
  const TensorPoint token = context.lookup.point(norm.token);
  const S square_sum = verify_inverse_root(context, norm, norm.token, norm.epsilon, norm.norm_numerator);
  // P(p) and S2(t) from h, I and Gamma
  const RmsNormRelation relation{transcript.challenge("lambda", 1, "combination of two identities")};
  const S target = product.value + relation.lambda * square_sum;
  const auto sumcheck = verify_sumcheck(transcript, target, norm.value.bits(), relation.degree());
  const TensorPoint end = to_tensor_point(norm.value, sumcheck.point);
  const TensorPoint token_end = norm.token_of(end);
  const S h = transcript.receive("h");
  const S inverse = context.committed("inverse", norm.inverse.tensor, weight_at(token_end));
  S gamma = context.parameter("gamma", norm.gamma, weight_at(norm.gain_of(end)));
  if (const auto low = norm.gamma_low()) {
    const S low_value = context.parameter("gamma_low", *low, weight_at(norm.gain_of(end)));
    gamma = gamma * two_to_the(gain_piece_bits) + low_value;
  }
  const E at_product = eq(to_flat_point(norm.value, product.point), sumcheck.point);
  const E at_token = eq(to_flat_point(norm.token, token), to_flat_point(norm.token, token_end));
  const std::array<S, 5> factors{at_product, h, inverse, gamma, at_token};
  transcript.check_equal(transcript.value(relation, factors), sumcheck.value,
                         "normalized values do not match the sum-check");
  // all claims on h become one on A
  return verify_requantized_claims<S>(context, norm.h, norm.h_remainder, {{weight_at(end), h}});
}

#define INSTANTIATE(S)                                                                            \
  template PointClaimOf<S> run(VerifierContext<S>&, const HeadNormPlan&, const PointClaimOf<S>&); \
  template PointClaimOf<S> run(VerifierContext<S>&, const BranchNormPlan&, const PointClaimOf<S>&);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
