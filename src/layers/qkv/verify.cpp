#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/head_padding.hpp"
#include "subprotocols/matrix_product.hpp"
#include "layers/qkv/qkv.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

template <class S>
std::vector<WeightedClaimOf<S>> run(VerifierContext<S>& context, const QkvPlan& qkv, const QkvClaimsOf<S>& consumers) {
  const auto scope = context.transcript.scope("qkv");
  const Shape& shape = qkv.qkv;
  std::array<ReductionInputOf<S>, 3> inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].claims = consumers[i];
    inputs[i].claims.insert(inputs[i].claims.begin(),
                            {weight_at(context.lookup.point(shape)), context.lookup.value(qkv.value[i])});
  }
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
  return {{weight_at(u.point), u.value}};
}

#define INSTANTIATE(S) \
  template std::vector<WeightedClaimOf<S>> run(VerifierContext<S>&, const QkvPlan&, const QkvClaimsOf<S>&);
TESSERA_FOR_SCALARS(INSTANTIATE)

}  // namespace tessera
