#include "plan/sides.hpp"
#include "layers/cache/cache.hpp"
#include "subprotocols/head_padding.hpp"

namespace tessera {

template <class Side>
QkvClaimsOf<ScalarFor<Side>> run(Side& context, const CachePlan& cache,
                                 const AttentionClaimsOf<ScalarFor<Side>>& claims) {
  using S = ScalarFor<Side>;
  const auto scope = context.transcript.scope("cache");
  const Dimension& new_rows = cache.q.dimensions().back();
  const unsigned position_bits = cache.state[state_keys].dimensions().back().bits();
  const auto weight = [&](const Shape& shape, const PointClaimOf<S>& claim, Factor token) {
    return head_weight(cache.heads, shape, claim.point, std::move(token));
  };
  // what attention reads is the past and the new rows at their places
  const auto of_rows = [&](const PointClaimOf<S>& claim, std::string_view label, StateTensor tensor) {
    S value = claim.value;
    if (cache.past > 0) {
      value = value - context.state(label, past_oracle, tensor,
                                    weight(cache.state[tensor], claim, state_rows(position_bits, claim.point.back())));
    }
    return WeightedClaimOf<S>{weight(cache.added_rows[tensor], claim,
                                     placed_rows(new_rows, cache.past, new_rows.filled(), claim.point.back())),
                              value};
  };
  QkvClaimsOf<S> result{
      std::vector{WeightedClaimOf<S>{weight(cache.q, claims.q, Factor::at(claims.q.point.back())), claims.q.value}},
      std::vector{of_rows(claims.k, "keys", state_keys)}, std::vector{of_rows(claims.v, "values", state_values)}};
  if (cache.added == 0) {
    return result;
  }
  // the kept state is the past one and the new rows at their places
  const auto keep_scope = context.transcript.scope("keep");
  Point flat;
  for (unsigned i = 0; i < cache.state[state_keys].bits(); ++i) {
    flat.push_back(context.transcript.challenge("rho", 1, "the kept state at a point"));
  }
  const auto kept = [&](std::string_view label, StateTensor tensor) {
    const TensorPoint at = to_tensor_point(cache.state[tensor], flat);
    S value = context.state(label, kept_oracle, tensor, weight_at(at));
    if (cache.past > 0) {
      value = value - context.state(label, past_oracle, tensor, weight_at(at));
    }
    std::vector<Factor> rows = weight_at(at);
    rows.back() = placed_rows(new_rows, cache.past, cache.added, at.back());
    return WeightedClaimOf<S>{std::move(rows), value};
  };
  result[1].push_back(kept("keys", state_keys));
  result[2].push_back(kept("values", state_values));
  return result;
}

#define INSTANTIATE(Side) \
  template QkvClaimsOf<ScalarFor<Side>> run(Side&, const CachePlan&, const AttentionClaimsOf<ScalarFor<Side>>&);
TESSERA_FOR_SIDES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
