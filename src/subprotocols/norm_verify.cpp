#include "subprotocols/norm.hpp"

namespace tessera {

TensorPoint without_feature(const TensorPoint& point) {
  TensorPoint token(point.begin(), point.end() - 2);
  token.push_back(point.back());
  return token;
}

template <class S>
void check_complements(VerifierContext<S>& context, const InverseRoot& root, const Shape& shape) {
  const LookupValuesOf<S>& lookup = context.lookup;
  const S sigma = lookup.value(root.sigma.checked);
  context.transcript.check_equal(lookup.value(root.root_complement), sigma + sigma - lookup.value(root.root_remainder),
                                 "square root is not the largest");
  context.transcript.check_equal(lookup.value(root.inverse_complement),
                                 sigma - presence_at(shape, lookup.point(shape)) - lookup.value(root.inverse_remainder),
                                 "remainder of the inverse is not below sigma");
}

template <class S>
S root_target(VerifierContext<S>& context, const InverseRoot& root, const Shape& shape, std::type_identity_t<S> known,
              std::int64_t numerator, const E& lambda) {
  const LookupValuesOf<S>& lookup = context.lookup;
  const E present = presence_at(shape, lookup.point(shape));
  return lookup.value(root.root_remainder) - known +
         lambda * (present * F::from_signed(numerator) - lookup.value(root.inverse_remainder));
}

template <class S>
S verify_inverse_root(VerifierContext<S>& context, const InverseRoot& root, const Shape& shape, std::int64_t epsilon,
                      std::int64_t numerator) {
  VerifierView<S>& transcript = context.transcript;
  S square_sum = transcript.receive("square_sum");
  const S variance = square_sum + presence_at(shape, context.lookup.point(shape)) * F::from_signed(epsilon);
  check_complements(context, root, shape);
  const RootRelation relation{transcript.challenge("lambda", 1, "combination of two identities")};
  const S target = root_target(context, root, shape, variance, numerator, relation.lambda);
  const auto scope = transcript.scope("token");
  const Point at = to_flat_point(shape, context.lookup.point(shape));
  const auto sumcheck = verify_eq_sumcheck(transcript, target, at, relation.degree());
  const TensorPoint end = to_tensor_point(shape, sumcheck.point);
  const S sigma = context.committed("sigma", root.sigma.tensor, weight_at(end));
  const S inverse = context.committed("inverse", root.inverse.tensor, weight_at(end));
  const std::array<S, 2> factors{sigma, inverse};
  transcript.check_equal(transcript.value(relation, factors), sumcheck.value,
                         "statistics of a token do not match the sum-check");
  return square_sum;
}

#define INSTANTIATE(S)                                                                                      \
  template void check_complements(VerifierContext<S>&, const InverseRoot&, const Shape&);                   \
  template S root_target(VerifierContext<S>&, const InverseRoot&, const Shape&, S, std::int64_t, const E&); \
  template S verify_inverse_root(VerifierContext<S>&, const InverseRoot&, const Shape&, std::int64_t, std::int64_t);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
