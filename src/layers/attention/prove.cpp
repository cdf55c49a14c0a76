#include "layers/attention/padded_heads.hpp"
#include "layers/attention/score_product.hpp"
#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/head_padding.hpp"
#include "subprotocols/requantization.hpp"
#include "sumcheck/product_relations.hpp"
#include "plan/witness.hpp"
#include "plan/prover_context.hpp"

namespace tessera {
namespace {

/// q or k at a token point (and of a group), over (block, head, place), padded: natural order. `shape`, `axes`: of its
/// head points.
std::vector<E> padded_at_token(ProverContext& context, const AttentionPlan& attention, Recorded<std::int16_t> tensor,
                               const Shape& shape, const std::vector<Axis>& axes) {
  const IntegerTensor values = context.witness.view(tensor);
  if (attention.heads.whole()) {
    return contract(values, shape, axes, context.comm);
  }
  const Shape& own = context.witness[tensor].shape();
  const std::vector<E> features = contract(values, own, {Axis{}, Axis{}, axes.back()}, context.comm);
  const unsigned in_bits = own.dimensions()[1].bits();
  const unsigned out_bits = attention.heads.head_bits() + attention.heads.place().bits();
  const std::size_t blocks = features.size() >> in_bits;
  std::vector<E> padded(blocks << out_bits);
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::size_t x = 0; x < attention.heads.features(); ++x) {
      padded[(b << out_bits) + padded_place(attention.heads, x)] = features[(b << in_bits) + x];
    }
  }
  return padded;
}

/// v at a place point: table over (block, head, key).
std::vector<E> values_at_place(ProverContext& context, const AttentionPlan& attention, const Point& place) {
  const std::size_t m = attention.heads.size;
  const std::vector<E> weights = eq_table(place);
  if (attention.heads.whole()) {
    return contract(context.witness.view(attention.v), attention.keys, {Axis{}, Axis{}, weights, Axis{}}, context.comm);
  }
  const Shape& shape = context.witness[attention.v].shape();
  // a head's features may lie in several chunks: one weighted sum over features for each head
  const unsigned feature_bits = shape.dimensions()[1].bits();
  std::vector<std::vector<E>> per_head;
  for (std::size_t head = 0; head < attention.heads.heads; ++head) {
    std::vector<E> feature_weights(std::size_t{1} << feature_bits);
    std::copy_n(weights.begin(), m, feature_weights.begin() + static_cast<std::ptrdiff_t>(head * m));
    per_head.push_back(
        contract(context.witness.view(attention.v), shape, {Axis{}, feature_weights, Axis{}}, context.comm));
  }
  const std::size_t heads = std::size_t{1} << attention.heads.head_bits();
  const std::size_t keys = std::size_t{1} << attention.key_bits;
  const std::size_t blocks = per_head[0].size() / keys;
  std::vector<E> result(blocks * heads * keys);
  for (std::size_t head = 0; head < per_head.size(); ++head) {
    for (std::size_t b = 0; b < blocks; ++b) {
      std::copy_n(per_head[head].begin() + static_cast<std::ptrdiff_t>(b * keys), keys,
                  result.begin() + static_cast<std::ptrdiff_t>((b * heads + head) * keys));
    }
  }
  return result;
}

/// Steps 3 and 4: R is the quotient of 2^46 by the row sum D.
void prove_row_division(ProverContext& context, const AttentionPlan& attention) {
  const auto scope = context.transcript.scope("rows");
  const Shape& rows = attention.rows;
  const TensorPoint at = context.lookup.point(rows);
  const std::vector<Axis> keep(4);
  std::vector<E> inverse = contract(context.witness.tensors[attention.row_inverse.tensor], rows, keep, context.comm);
  std::vector<E> sums = contract(context.witness.view(attention.row_sum), rows, keep, context.comm);
  const Point flat = to_flat_point(rows, at);
  context.committed("row_sum", attention.exponential.output, row_sum_weight(at, attention.key_bits),
                    evaluate(sums, flat));
  const ProvenSumcheck sumcheck = prove_dense_sumcheck(context.transcript, round_kernel(ProductRelation{}),
                                                       {std::move(inverse), std::move(sums)}, flat);
  const TensorPoint end = to_tensor_point(rows, sumcheck.point);
  context.committed("row_inverse", attention.row_inverse.tensor, weight_at(end), sumcheck.factors[0]);
  context.committed("row_sum", attention.exponential.output, row_sum_weight(end, attention.key_bits),
                    sumcheck.factors[1]);
}

/// Step 5, the second product O = e*v at a point; returns the claim on v.
PointClaim prove_values(ProverContext& context, const AttentionPlan& attention, const TensorPoint& at) {
  const auto scope = context.transcript.scope("values");
  const std::vector<E> weights = eq_table(join(at[0], at[1]));
  std::vector<E> exponential = contract(context.witness.tensors[attention.exponential.output], attention.scores,
                                        {Axis{}, Axis{}, eq_table(at[2]), eq_table(at[4]), Axis{}}, context.comm);
  const ProvenSumcheck sumcheck =
      prove_dense_sumcheck(context.transcript, round_kernel(TripleProductRelation{}),
                           {repeat_each(weights, std::size_t{1} << attention.key_bits), std::move(exponential),
                            values_at_place(context, attention, at[3])});
  const std::vector<Dimension>& keys = attention.keys.dimensions();
  const TensorPoint end = deal(std::array{keys[0], keys[1], keys[3]}, sumcheck.point);
  context.committed("exponential", attention.exponential.output, weight_at({end[0], end[1], at[2], at[4], end[2]}),
                    sumcheck.factors[1]);
  context.transcript.send("v", sumcheck.factors[2]);
  return {{end[0], end[1], at[3], end[2]}, sumcheck.factors[2]};
}

/// Step 7, the mask: Z*A at a point of the scores; returns the point of the claim on A.
TensorPoint prove_masking(ProverContext& context, const AttentionPlan& attention, const TensorPoint& at) {
  const auto scope = context.transcript.scope("mask");
  const Shape masks = attention.masks();
  const Witness& witness = context.witness;
  const PaddedHeads heads(attention, witness[attention.q], witness[attention.k], witness[attention.score],
                          context.comm);
  const ScoreProduct product(attention.scores, heads.tiles(), heads.q(), heads.k(), masks, at, context.comm);
  const std::vector<ChunkedFactor> factors{CausalMask{masks, attention.past}, product.factor()};
  const ProvenSumcheck sumcheck =
      prove_chunked_sumcheck(context.transcript, round_kernel(ProductRelation{}), masks, Ownership{0, Deal::tiles},
                             factors, to_flat_point(masks, mask_point(attention, at)), context.comm);
  context.transcript.send("product", sumcheck.factors[1]);
  return with_mask_point(attention, at, to_tensor_point(masks, sumcheck.point));
}

/// Step 8, the first product A = q*k^T at a point; returns the claims on q and k.
std::array<PointClaim, 2> prove_scores(ProverContext& context, const AttentionPlan& attention, const TensorPoint& at) {
  const auto scope = context.transcript.scope("scores");
  const std::vector<Dimension>& keys = attention.keys.dimensions();
  const ProvenSumcheck sumcheck = prove_dense_sumcheck(
      context.transcript, round_kernel(TripleProductRelation{}),
      {repeat_each(eq_table(join(at[0], at[1])), keys[2].chunk()),
       padded_at_token(context, attention, attention.q, attention.queries,
                       {Axis{}, Axis{}, eq_table(at[2]), Axis{}, eq_table(at[3])}),
       padded_at_token(context, attention, attention.k, attention.keys, {Axis{}, Axis{}, Axis{}, eq_table(at[4])})});
  const TensorPoint end = deal(std::span(keys).first(3), sumcheck.point);
  context.transcript.send("q", sumcheck.factors[1]);
  context.transcript.send("k", sumcheck.factors[2]);
  return {{{{end[0], end[1], at[2], end[2], at[3]}, sumcheck.factors[1]},
           {{end[0], end[1], end[2], at[4]}, sumcheck.factors[2]}}};
}

}  // namespace

AttentionClaims run(ProverContext& context, const AttentionPlan& attention, std::vector<WeightedClaim> y_consumers) {
  ProverTranscript& transcript = context.transcript;
  const auto scope = transcript.scope("attention");
  const Shape& scores = attention.scores;
  // all claims on y become one on O*R at the same point
  const TensorPoint y_point =
      requantized_claims(context, attention.y, attention.y_remainder, std::move(y_consumers)).point;
  // O*R from O and R; R does not depend on the place in the head, which stays where it is
  const TensorPoint head_point = head_point_of(attention, y_point);
  std::vector<E> inverse = contract(context.witness.tensors[attention.row_inverse.tensor], attention.rows,
                                    std::vector<Axis>(4), context.comm);
  std::vector<E> sums = contract(context.witness.view(attention.value_sum), attention.queries,
                                 {Axis{}, Axis{}, Axis{}, eq_table(head_point[3]), Axis{}}, context.comm);
  const ProvenSumcheck normalization =
      prove_dense_sumcheck(transcript, round_kernel(ProductRelation{}), {std::move(sums), std::move(inverse)},
                           to_flat_point(attention.rows, row_point(head_point)));
  const TensorPoint value_point = with_row_point(head_point, to_tensor_point(attention.rows, normalization.point));
  transcript.send("value_sum", normalization.factors[0]);
  context.committed("row_inverse", attention.row_inverse.tensor, weight_at(row_point(value_point)),
                    normalization.factors[1]);
  prove_row_division(context, attention);
  const PointClaim v = prove_values(context, attention, value_point);
  // the scores' look-up point gives A after the mask; its row maximum
  const TensorPoint at = context.lookup.point(scores);
  for (std::vector<Factor>& weight : seen_row_weights(attention, at)) {
    context.committed("row_max", attention.row_max.tensor, std::move(weight));
  }
  check_limits(context, attention.exponential.clamp, attention.exponential.output);
  const TensorPoint masked =
      attention.capped
          ? looked_up(context, attention.capped->clamp, attention.score, attention.score_remainder, E{}).point
          : at;
  const auto [q, k] = prove_scores(context, attention, prove_masking(context, attention, masked));
  return {q, k, v};
}

}  // namespace tessera
