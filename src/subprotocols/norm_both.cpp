#include "plan/sides.hpp"
#include "subprotocols/norm.hpp"
#include "subprotocols/sum.hpp"

namespace tessera {

template <class Side>
void check_complements(Side& context, const InverseRoot& root, const Shape& shape) {
  const auto& lookup = context.lookup;
  const auto sigma = lookup.value(root.sigma.checked);
  context.transcript.check_equal(lookup.value(root.root_complement), sigma + sigma - lookup.value(root.root_remainder),
                                 "square root is not the largest");
  context.transcript.check_equal(lookup.value(root.inverse_complement),
                                 sigma - presence_at(shape, lookup.point(shape)) - lookup.value(root.inverse_remainder),
                                 "remainder of the inverse is not below sigma");
}

template <class Side>
ScalarFor<Side> root_target(Side& context, const InverseRoot& root, const Shape& shape, const ScalarFor<Side>& known,
                            std::int64_t numerator, const E& lambda) {
  const auto& lookup = context.lookup;
  const E present = presence_at(shape, lookup.point(shape));
  return lookup.value(root.root_remainder) - known +
         lambda * (present * F::from_signed(numerator) - lookup.value(root.inverse_remainder));
}

template <class Side>
ScalarFor<Side> inverse_root(Side& context, const InverseRoot& root, const Shape& shape, Derived square_sum,
                             std::int64_t epsilon, std::int64_t numerator) {
  const TensorPoint at = context.lookup.point(shape);
  auto sum = context.derived("square_sum", square_sum, shape, weight_at(at));
  const ScalarFor<Side> variance = sum + presence_at(shape, at) * F::from_signed(epsilon);
  check_complements(context, root, shape);
  const RootRelation relation{context.transcript.challenge("lambda", 1, "combination of two identities")};
  const auto target = root_target(context, root, shape, variance, numerator, relation.lambda);
  const auto scope = context.transcript.scope("token");
  run_sum(context, relation,
          {.shape = shape,
           .factors = {SumFactor::committed("sigma", root.sigma.tensor),
                       SumFactor::committed("inverse", root.inverse.tensor)},
           .at = at},
          target, "statistics of a token do not match the sum-check");
  return sum;
}

#define INSTANTIATE(Side)                                                                                             \
  template void check_complements(Side&, const InverseRoot&, const Shape&);                                           \
  template ScalarFor<Side> root_target(Side&, const InverseRoot&, const Shape&, const ScalarFor<Side>&, std::int64_t, \
                                       const E&);                                                                     \
  template ScalarFor<Side> inverse_root(Side&, const InverseRoot&, const Shape&, Derived, std::int64_t, std::int64_t);
TESSERA_FOR_SIDES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
