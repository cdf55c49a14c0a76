#include "layers/attention/padded_heads.hpp"
#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/head_padding.hpp"
#include "subprotocols/requantization.hpp"
#include "sumcheck/product_relations.hpp"
#include "plan/witness.hpp"
#include "plan/prover_context.hpp"

namespace tessera {
namespace {

/// A table over leading dimensions, constant along a last one of `times` places.
std::vector<E> repeat_each(const std::vector<E>& table, std::size_t times) {
  std::vector<E> result;
  result.reserve(table.size() * times);
  for (const E& value : table) {
    result.insert(result.end(), times, value);
  }
  return result;
}

/// q, k or v at a token point, over (block, head and place), padded: natural order.
std::vector<E> padded_at_token(ProverContext& context, const AttentionPlan& attention, const IntegerTensor& tensor,
                               const Shape& shape, const Point& token) {
  std::vector<E> features = contract(tensor, shape, {Axis{}, Axis{}, eq_table(token)}, context.comm);
  if (attention.heads.whole()) {
    return features;
  }
  const unsigned in_bits = shape.dimensions()[1].bits();
  const unsigned out_bits = attention.head_feature.dimensions()[1].bits();
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
  const Shape& shape = attention.sequence;
  const std::size_t m = attention.heads.size;
  const std::vector<E> weights = eq_table(place);
  if (attention.heads.whole()) {
    // the same tensor with head and place apart
    const auto& dimensions = shape.dimensions();
    const Shape split({dimensions[0], Dimension::outer(attention.heads.heads), Dimension::whole(m), dimensions[2]});
    return contract(context.witness.view(attention.v), split, {Axis{}, Axis{}, weights, Axis{}}, context.comm);
  }
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
  const std::vector<Axis> keep(3);
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
PointClaim prove_values(ProverContext& context, const AttentionPlan& attention, const TensorPoint& at,
                        unsigned head_bits) {
  const auto scope = context.transcript.scope("values");
  const TensorPoint row = row_point(at, head_bits);
  const Point place(at[1].begin() + head_bits, at[1].end());
  const auto block_bits = static_cast<unsigned>(row[0].size());
  const std::vector<E> weights = eq_table(join(row[0], row[1]));
  std::vector<E> exponential = contract(context.witness.tensors[attention.exponential.output], attention.scores,
                                        {Axis{}, Axis{}, eq_table(row[2]), Axis{}}, context.comm);
  const ProvenSumcheck sumcheck =
      prove_dense_sumcheck(context.transcript, round_kernel(TripleProductRelation{}),
                           {repeat_each(weights, std::size_t{1} << attention.key_bits), std::move(exponential),
                            values_at_place(context, attention, place)});
  const Point block(sumcheck.point.begin(), sumcheck.point.begin() + block_bits);
  const Point head(sumcheck.point.begin() + block_bits, sumcheck.point.begin() + block_bits + head_bits);
  const Point key(sumcheck.point.begin() + block_bits + head_bits, sumcheck.point.end());
  context.committed("exponential", attention.exponential.output, weight_at({block, head, row[2], key}),
                    sumcheck.factors[1]);
  context.transcript.send("v", sumcheck.factors[2]);
  return {{block, join(head, place), key}, sumcheck.factors[2]};
}

/// Step 7, the mask: Z*A at a point of the scores; returns the point of the claim on A.
TensorPoint prove_masking(ProverContext& context, const AttentionPlan& attention, const TensorPoint& at) {
  const auto scope = context.transcript.scope("mask");
  const Shape& scores = attention.scores;
  const PaddedHeads heads(attention, context.witness, context.comm);
  const std::vector<ChunkedFactor> factors{CausalMask{scores, attention.past}, heads.score_product()};
  const ProvenSumcheck sumcheck =
      prove_chunked_sumcheck(context.transcript, round_kernel(ProductRelation{}), scores, Ownership{1}, factors,
                             to_flat_point(scores, at), context.comm);
  context.transcript.send("product", sumcheck.factors[1]);
  return to_tensor_point(scores, sumcheck.point);
}

/// Step 8, the first product A = q*k^T at a point; returns the claims on q and k.
std::array<PointClaim, 2> prove_scores(ProverContext& context, const AttentionPlan& attention, const TensorPoint& at) {
  const auto scope = context.transcript.scope("scores");
  const auto block_bits = static_cast<unsigned>(at[0].size());
  const std::size_t places = std::size_t{1} << Dimension::whole(attention.heads.size).log_chunk;
  const ProvenSumcheck sumcheck = prove_dense_sumcheck(
      context.transcript, round_kernel(TripleProductRelation{}),
      {repeat_each(eq_table(join(at[0], at[1])), places),
       padded_at_token(context, attention, context.witness.view(attention.q), attention.qkv, at[2]),
       padded_at_token(context, attention, context.witness.view(attention.k), attention.sequence, at[3])});
  const Point block(sumcheck.point.begin(), sumcheck.point.begin() + block_bits);
  const Point place(sumcheck.point.begin() + block_bits, sumcheck.point.end());
  context.transcript.send("q", sumcheck.factors[1]);
  context.transcript.send("k", sumcheck.factors[2]);
  return {{{{block, place, at[2]}, sumcheck.factors[1]}, {{block, place, at[3]}, sumcheck.factors[2]}}};
}

}  // namespace

AttentionClaims run(ProverContext& context, const AttentionPlan& attention, std::vector<WeightedClaim> y_consumers) {
  ProverTranscript& transcript = context.transcript;
  const auto scope = transcript.scope("attention");
  const Shape& heads = attention.head_feature;
  const Shape& scores = attention.scores;
  const unsigned head_bits = attention.heads.head_bits();
  // all claims on y become one on O*R at the same point
  y_consumers.insert(y_consumers.begin(), {weight_at(context.lookup.point(heads)), E::zero()});
  const ReductionInput inputs{std::move(y_consumers)};
  const IntegerTensor y_tensor = context.witness.view(attention.y);
  const ReducedClaims y = prove_claim_reduction(context, heads, std::span(&y_tensor, 1), std::span(&inputs, 1));
  prove_requantization(context, attention.y_remainder, y.point);
  // O*R from O and R; R does not depend on the place in the head
  const Dimension place_dimension = Dimension::whole(attention.heads.size);
  const Shape split(
      {heads.dimensions()[0], Dimension::outer(attention.heads.heads), place_dimension, heads.dimensions()[2]});
  const std::vector<E> inverse = contract(context.witness.tensors[attention.row_inverse.tensor], attention.rows,
                                          std::vector<Axis>(3), context.comm);
  const std::vector<ChunkedFactor> factors{TensorFactor{context.witness.view(attention.value_sum)},
                                           BroadcastFactor(split, inverse, {true, true, false, true})};
  const ProvenSumcheck normalization =
      prove_chunked_sumcheck(transcript, round_kernel(ProductRelation{}), heads, Ownership{1}, factors,
                             to_flat_point(heads, y.point), context.comm);
  const TensorPoint value_point = to_tensor_point(heads, normalization.point);
  transcript.send("value_sum", normalization.factors[0]);
  context.committed("row_inverse", attention.row_inverse.tensor, weight_at(row_point(value_point, head_bits)),
                    normalization.factors[1]);
  prove_row_division(context, attention);
  const PointClaim v = prove_values(context, attention, value_point, head_bits);
  // the scores' look-up point gives A after the mask; its row maximum
  const TensorPoint at = context.lookup.point(scores);
  context.committed("row_max", attention.row_max.tensor,
                    {Factor::at(at[0]), Factor::at(at[1]), masked_row_weight(scores, at)});
  const auto [q, k] = prove_scores(context, attention, prove_masking(context, attention, at));
  return {q, k, v};
}

}  // namespace tessera
