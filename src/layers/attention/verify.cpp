#include "layers/attention/attention.hpp"
#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/requantization.hpp"
#include "sumcheck/product_relations.hpp"

namespace tessera {
namespace {

/// Steps 3 and 4.
template <class S>
void verify_row_division(VerifierContext<S>& context, const AttentionPlan& attention) {
  VerifierView<S>& transcript = context.transcript;
  const auto scope = transcript.scope("rows");
  const Shape& rows = attention.rows;
  const TensorPoint at = context.lookup.point(rows);
  const E present = presence_at(rows, at);
  const S quotient = context.lookup.value(attention.row_sum_quotient.checked);
  const S count = context.lookup.value(attention.maximum_count) + present;
  const S remainder = context.lookup.value(attention.division_remainder);
  const S sum = context.committed("row_sum", attention.exponential.output, row_sum_weight(at));
  transcript.check_equal(sum, quotient * two_to_the(attention.kappa) + count,
                         "row sum does not match its quotient and count of maxima");
  transcript.check_equal(context.lookup.value(attention.division_complement), sum - present - remainder,
                         "remainder of the division is not below the row sum");
  const S target = present * two_to_the(softmax_shift) - remainder;
  const auto sumcheck = verify_eq_sumcheck(transcript, target, to_flat_point(rows, at), ProductRelation{}.degree());
  const TensorPoint end = to_tensor_point(rows, sumcheck.point);
  const S inverse = context.committed("row_inverse", attention.row_inverse.tensor, weight_at(end));
  const S end_sum = context.committed("row_sum", attention.exponential.output, row_sum_weight(end));
  transcript.check_equal(transcript.product(inverse, end_sum), sumcheck.value,
                         "row sum times inverse does not match the sum-check");
}

/// Step 5: O(point) = value; returns the claim on v.
template <class S>
PointClaimOf<S> verify_values(VerifierContext<S>& context, const AttentionPlan& attention, const TensorPoint& at,
                              unsigned head_bits, S value) {
  VerifierView<S>& transcript = context.transcript;
  const auto scope = transcript.scope("values");
  const TensorPoint row = row_point(at, head_bits);
  const Point place(at[1].begin() + head_bits, at[1].end());
  const auto block_bits = static_cast<unsigned>(row[0].size());
  const auto key_bits = static_cast<unsigned>(row[2].size());
  const auto sumcheck = verify_sumcheck(transcript, value, block_bits + head_bits + key_bits, 3);
  const Point block(sumcheck.point.begin(), sumcheck.point.begin() + block_bits);
  const Point head(sumcheck.point.begin() + block_bits, sumcheck.point.begin() + block_bits + head_bits);
  const Point key(sumcheck.point.begin() + block_bits + head_bits, sumcheck.point.end());
  const S exponential =
      context.committed("exponential", attention.exponential.output, weight_at({block, head, row[2], key}));
  const S v = transcript.receive("v");
  const std::array<S, 3> factors{eq(row[0], block) * eq(row[1], head), exponential, v};
  transcript.check_equal(transcript.value(TripleProductRelation{}, factors), sumcheck.value,
                         "value product does not match the sum-check");
  return {{block, join(head, place), key}, v};
}

}  // namespace

TensorPoint row_point(const TensorPoint& point, unsigned head_bits) {
  return {point[0], Point(point[1].begin(), point[1].begin() + head_bits), point[2]};
}

std::vector<Factor> row_sum_weight(const TensorPoint& row) {
  std::vector<Factor> weight = weight_at(row);
  weight.push_back(Factor::ones(static_cast<unsigned>(row[2].size())));  // as many keys as queries
  return weight;
}

Factor masked_row_weight(const Shape& scores, const TensorPoint& point) {
  const unsigned tiles = scores.dimensions()[2].outer_bits();
  const std::span<const E> query_tile = std::span(point[2]).first(tiles);
  const std::span<const E> key_tile = std::span(point[3]).first(tiles);
  Factor weight{{}, Point(point[2].begin() + tiles, point[2].end())};
  for (std::size_t tile = 0; tile < std::size_t{1} << tiles; ++tile) {
    weight.head.push_back(eq_index(query_tile, tile) * less_than(key_tile, tile + 1));
  }
  return weight;
}

E masked_places(const Shape& scores, const TensorPoint& point) {
  const auto& dimensions = scores.dimensions();
  return presence_at(scores, point) - less_than(point[0], dimensions[0].length) *
                                          less_than(point[1], dimensions[1].length) * less_or_equal(point[3], point[2]);
}

template <class S>
AttentionClaimsOf<S> run(VerifierContext<S>& context, const AttentionPlan& attention,
                         std::type_identity_t<std::vector<WeightedClaimOf<S>>> y_consumers) {
  VerifierView<S>& transcript = context.transcript;
  const auto scope = transcript.scope("attention");
  const Shape& heads = attention.head_feature;
  const Shape& scores = attention.scores;
  const unsigned head_bits = attention.heads.head_bits();
  AttentionClaimsOf<S> claims;

  // 1
  y_consumers.insert(y_consumers.begin(), {weight_at(context.lookup.point(heads)), context.lookup.value(attention.y)});
  const ReductionInputOf<S> inputs{std::move(y_consumers)};
  const ReducedClaimsOf<S> y = verify_claim_reduction(transcript, heads, std::span(&inputs, 1));
  const S normalized = verify_requantization(context, attention.y_remainder, y.point, y.values[0]);
  // 2
  const auto normalization =
      verify_eq_sumcheck(transcript, normalized, to_flat_point(heads, y.point), ProductRelation{}.degree());
  const TensorPoint value_point = to_tensor_point(heads, normalization.point);
  const S value_sum = transcript.receive("value_sum");
  const S inverse =
      context.committed("row_inverse", attention.row_inverse.tensor, weight_at(row_point(value_point, head_bits)));
  transcript.check_equal(transcript.product(value_sum, inverse), normalization.value,
                         "normalization does not match the sum-check");
  // 3, 4, 5
  verify_row_division(context, attention);
  claims.v = verify_values(context, attention, value_point, head_bits, value_sum);
  // 6
  const TensorPoint at = context.lookup.point(scores);
  const S row_max = context.committed("row_max", attention.row_max.tensor,
                                      {Factor::at(at[0]), Factor::at(at[1]), masked_row_weight(scores, at)});
  const S score = row_max + masked_places(scores, at) * F::from_signed(softmax_infinity) -
                  context.lookup.input(attention.exponential);
  const S masked = requantized<S>(scores, at, score, context.lookup.value(attention.score_remainder),
                                  static_cast<unsigned>(attention.score_shift));
  // 7
  TensorPoint product_point;
  S product;
  {
    const auto mask_scope = transcript.scope("mask");
    const auto sumcheck = verify_eq_sumcheck(transcript, masked, to_flat_point(scores, at), ProductRelation{}.degree());
    product_point = to_tensor_point(scores, sumcheck.point);
    product = transcript.receive("product");
    transcript.check_equal(less_or_equal(product_point[3], product_point[2]) * product, sumcheck.value,
                           "masked scores do not match the sum-check");
  }
  // 8
  const auto score_scope = transcript.scope("scores");
  const auto block_bits = static_cast<unsigned>(at[0].size());
  const unsigned place_bits = heads.dimensions()[1].bits();
  const auto sumcheck = verify_sumcheck(transcript, product, block_bits + place_bits, TripleProductRelation{}.degree());
  const Point block(sumcheck.point.begin(), sumcheck.point.begin() + block_bits);
  const Point place(sumcheck.point.begin() + block_bits, sumcheck.point.end());
  const E head_weight = eq(product_point[0], block) * eq(product_point[1], std::span(place).first(head_bits));
  claims.q = {{block, place, product_point[2]}, transcript.receive("q")};
  claims.k = {{block, place, product_point[3]}, transcript.receive("k")};
  const std::array<S, 3> factors{head_weight, claims.q.value, claims.k.value};
  transcript.check_equal(transcript.value(TripleProductRelation{}, factors), sumcheck.value,
                         "scores do not match the sum-check");
  return claims;
}

template AttentionClaims run(VerifierContext<E>&, const AttentionPlan&, std::vector<WeightedClaim>);
template AttentionClaimsOf<Nothing> run(VerifierContext<Nothing>&, const AttentionPlan&,
                                        std::vector<WeightedClaimOf<Nothing>>);

}  // namespace tessera
