#include "plan/sides.hpp"
#include "layers/qkv/qkv.hpp"
#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/matrix_product.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

template <class Side>
std::vector<WeightedClaimFor<Side>> run(Side& context, const QkvPlan& qkv,
                                        const QkvClaimsOf<ScalarFor<Side>>& consumers) {
  using S = ScalarFor<Side>;
  const auto scope = context.transcript.scope("qkv");
  const Shape& shape = qkv.qkv;
  std::vector<ReductionInputOf<S>> inputs;
  for (std::size_t i = 0; i < 3; ++i) {
    ReductionInputOf<S> input{qkv.value[i], consumers[i]};
    input.claims.insert(input.claims.begin(),
                        {weight_at(context.lookup.point(shape)), context.lookup.value(qkv.value[i])});
    add_limit_claim(context.exceptions, qkv.value[i].clamp, input.claims);
    inputs.push_back(std::move(input));
  }
  const ReducedClaimsOf<S> reduced = reduce_claims(context, shape, inputs);
  std::vector<S> products;
  for (std::size_t i = 0; i < 3; ++i) {
    const S rounded = reduced.values[i] + context.exceptions.excess_at(qkv.value[i].clamp, reduced.point);
    PointClaimOf<S> product{reduced.point, requantization(context, qkv.remainder[i], reduced.point, rounded)};
    subtract_bias(context, "bias_" + qkv_names[i], qkv.bias[i], qkv.bias_shift[i], shape, product);
    products.push_back(std::move(product.value));
  }
  const auto u =
      matrix_product(context, {qkv.weight.begin(), qkv.weight.end()}, reduced.point, products, {qkv.u, qkv.feature});
  return {{weight_at(u.point), u.value}};
}

#define INSTANTIATE(Side) \
  template std::vector<WeightedClaimFor<Side>> run(Side&, const QkvPlan&, const QkvClaimsOf<ScalarFor<Side>>&);
TESSERA_FOR_SIDES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
