#include "plan/sides.hpp"
#include "subprotocols/norm.hpp"
#include "subprotocols/sum.hpp"
#include "sumcheck/product_relations.hpp"

#include <utility>

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

template <class Side>
void run_normalization(Side& context, const NormSpec& norm, const InverseRoot& root, std::optional<TensorId> mean,
                       const PointClaimFor<Side>& normalized, const ScalarFor<Side>& square_sum) {
  const std::size_t feature = norm.activation.dimensions().size() - 2;
  const unsigned feature_bits = norm.activation.dimensions()[feature].bits();
  const TensorPoint& r = normalized.point;
  context.transcript.identity(feature_bits, unsummed_identity);
  const auto tokens = run_sum(context, ProductRelation{},
                              {.shape = norm.token,
                               .factors = {SumFactor::committed("inverse", root.inverse.tensor),
                                           SumFactor::weighed("weighed", norm.x.tensor, mean, norm.gamma, r[feature])},
                               .at = along(r, all_but_features(norm.activation))},
                              normalized.value, "normalized values do not match the sum-check");
  {
    const auto scope = context.transcript.scope("gain");
    // every rank has all of it: no dimension is divided
    std::vector<Dimension> dimensions = norm.activation.undivided().dimensions();
    dimensions.pop_back();
    const Shape features(std::move(dimensions));
    TensorPoint at = tokens.point;
    const Point token = std::exchange(at.back(), r[feature]);
    std::vector<bool> of_mean(features.dimensions().size(), true);
    of_mean.back() = false;
    Sum sum{.shape = features,
            .factors = {SumFactor::parameter("gamma", norm.gamma, {}), SumFactor::at_token("x", norm.x.tensor, token)},
            .at = std::move(at)};
    constexpr std::string_view mismatch = "weighed features do not match the sum-check";
    if (mean) {
      sum.factors.push_back(SumFactor::at_token("mu", *mean, token, std::move(of_mean)));
      run_sum(context, CentredGainRelation{}, sum, tokens.values[1], mismatch);
    } else {
      run_sum(context, ProductRelation{}, sum, tokens.values[1], mismatch);
    }
  }
  const auto scope = context.transcript.scope("squares");
  const E half(F::from_canonical(2).inverse());
  TensorPoint at = context.lookup.point(norm.token);
  at.insert(at.end() - 1, Point(feature_bits, half));
  run_sum(context, SquareRelation{},
          {.shape = norm.activation,
           .factors = {SumFactor::committed("x", norm.x.tensor)},
           .at = std::move(at),
           .sharded = true},
          square_sum * two_to_the_minus(feature_bits), "squares do not match the sum-check");
}

#define INSTANTIATE(Side)                                                                                              \
  template void check_complements(Side&, const InverseRoot&, const Shape&);                                            \
  template ScalarFor<Side> root_target(Side&, const InverseRoot&, const Shape&, const ScalarFor<Side>&, std::int64_t,  \
                                       const E&);                                                                      \
  template ScalarFor<Side> inverse_root(Side&, const InverseRoot&, const Shape&, Derived, std::int64_t, std::int64_t); \
  template void run_normalization(Side&, const NormSpec&, const InverseRoot&, std::optional<TensorId>,                 \
                                  const PointClaimFor<Side>&, const ScalarFor<Side>&);
TESSERA_FOR_SIDES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
