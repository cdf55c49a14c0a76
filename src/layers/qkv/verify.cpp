#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/head_padding.hpp"
#include "subprotocols/matrix_product.hpp"
#include "layers/qkv/qkv.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

template <class S>
WeightedClaimOf<S> run(VerifierContext<S>& context, const QkvPlan& qkv, const AttentionClaimsOf<S>& claims) {
  const auto scope = context.transcript.scope("qkv");
  const Shape& shape = qkv.qkv;
  const unsigned feature_bits = shape.dimensions()[1].bits();
  const TensorPoint looked_up = context.lookup.point(shape);
  const auto input = [&](RangeId range, const PointClaimOf<S>& consumer) {
    return ReductionInputOf<S>{
        {{weight_at(looked_up), context.lookup.value(range)},
         {{Factor::at(consumer.point[0]), padded_to_feature(qkv.heads, feature_bits, consumer.point[1]),
           Factor::at(consumer.point[2])},
          consumer.value}}};
  };
  const std::array inputs{input(qkv.value[0], claims.q), input(qkv.value[1], claims.k), input(qkv.value[2], claims.v)};
  const ReducedClaimsOf<S> reduced = verify_claim_reduction(context.transcript, shape, inputs);
  const TensorPoint& at = reduced.point;
  const auto product = [&](RangeId remainder, S value, std::string_view label, ParameterId bias, int bias_shift) {
    const S scaled = verify_requantization(context, remainder, at, value);
    return scaled -
           context.parameter(label, bias, weight_at({at[0], at[1]})) * two_to_the(static_cast<unsigned>(bias_shift));
  };
  const S q = product(qkv.remainder[0], reduced.values[0], "bias_q", qkv.bias[0], qkv.bias_shift[0]);
  const S k = product(qkv.remainder[1], reduced.values[1], "bias_k", qkv.bias[1], qkv.bias_shift[1]);
  const S v = product(qkv.remainder[2], reduced.values[2], "bias_v", qkv.bias[2], qkv.bias_shift[2]);
  const MatrixProductShape matrices{
      {qkv.weight.begin(), qkv.weight.end()}, shape.dimensions()[0].bits(), qkv.feature.dimensions()[1].bits()};
  const PointClaimOf<S> u = verify_matrix_product(context, matrices, at, std::array{q, k, v});
  return {weight_at(u.point), u.value};
}

template WeightedClaim run(VerifierContext<E>&, const QkvPlan&, const AttentionClaims&);
template WeightedClaimOf<Nothing> run(VerifierContext<Nothing>&, const QkvPlan&, const AttentionClaimsOf<Nothing>&);

}  // namespace tessera
