#include "layers/rms_norm/rms_norm.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

template <class S>
void run(VerifierContext<S>& context, const RmsNormPlan& norm,
         std::type_identity_t<std::vector<WeightedClaimOf<S>>> consumers) {
  VerifierView<S>& transcript = context.transcript;
  const auto scope = transcript.scope("rms_norm");
  // all claims on u become one on A at the same point
  const PointClaimOf<S> scaled =
      verify_requantized_claims<S>(context, norm.output_range(), norm.u_remainder, std::move(consumers));
  // V and I of each token
  const TensorPoint token = context.lookup.point(norm.token);
  const S square_sum = verify_inverse_root(context, norm, norm.token, norm.epsilon, norm.norm_numerator);
  // A(r) and S2(t) from x, I and Gamma
  const RmsNormRelation relation{transcript.challenge("lambda", 1, "combination of two identities")};
  const S target = scaled.value + relation.lambda * square_sum;
  const auto sumcheck = verify_sumcheck(transcript, target, norm.activation.bits(), relation.degree());
  const TensorPoint end = to_tensor_point(norm.activation, sumcheck.point);
  const TensorPoint token_end = without_feature(end);
  const TensorPoint feature_end(end.begin(), end.end() - 1);
  const S x = context.committed("x", norm.x.tensor, weight_at(end));
  const S inverse = context.committed("inverse", norm.inverse.tensor, weight_at(token_end));
  const S gamma = context.parameter("gamma", norm.gamma, weight_at(feature_end));
  const E at_u = eq(to_flat_point(norm.activation, scaled.point), sumcheck.point);
  const E at_token = eq(to_flat_point(norm.token, token), to_flat_point(norm.token, token_end));
  const std::array<S, 5> factors{at_u, x, inverse, gamma, at_token};
  transcript.check_equal(transcript.value(relation, factors), sumcheck.value,
                         "normalized values do not match the sum-check");
}

#define INSTANTIATE(S) template void run(VerifierContext<S>&, const RmsNormPlan&, std::vector<WeightedClaimOf<S>>);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
