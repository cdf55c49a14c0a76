#include "layers/attention/attention.hpp"
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
std::vector<E> padded_at_token(ProverContext& context, const IntegerTensor& tensor, const Point& token) {
  const Plan& plan = context.plan;
  const Shape& shape = plan.shapes.block_qkv;
  std::vector<E> features = contract(tensor, shape, {Axis{}, Axis{}, eq_table(token)}, context.comm);
  if (plan.whole_heads) {
    return features;
  }
  const unsigned in_bits = shape.dimensions()[1].bits();
  const unsigned out_bits = plan.head_feature.dimensions()[1].bits();
  const std::size_t blocks = features.size() >> in_bits;
  std::vector<E> padded(blocks << out_bits);
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::size_t x = 0; x < plan.model.n_embd; ++x) {
      padded[(b << out_bits) + padded_place(plan.model, x)] = features[(b << in_bits) + x];
    }
  }
  return padded;
}

/// v at a place point: table over (block, head, key).
std::vector<E> values_at_place(ProverContext& context, const Point& place) {
  const Plan& plan = context.plan;
  const Shape& shape = plan.shapes.block_qkv;
  const std::size_t m = plan.model.head_size();
  const std::vector<E> weights = eq_table(place);
  if (plan.whole_heads) {
    // the same tensor with head and place apart
    const auto& dimensions = shape.dimensions();
    const Shape split({dimensions[0], Dimension::outer(plan.model.n_head), Dimension::whole(m), dimensions[2]});
    return contract(context.witness.v, split, {Axis{}, Axis{}, weights, Axis{}}, context.comm);
  }
  // a head's features may lie in several chunks: one weighted sum over features for each head
  const unsigned feature_bits = shape.dimensions()[1].bits();
  std::vector<std::vector<E>> per_head;
  for (std::size_t head = 0; head < plan.model.n_head; ++head) {
    std::vector<E> feature_weights(std::size_t{1} << feature_bits);
    std::copy_n(weights.begin(), m, feature_weights.begin() + static_cast<std::ptrdiff_t>(head * m));
    per_head.push_back(contract(context.witness.v, shape, {Axis{}, feature_weights, Axis{}}, context.comm));
  }
  const std::size_t heads = std::size_t{1} << plan.shapes.block_row.dimensions()[1].outer_bits();
  const std::size_t keys = plan.padded_tokens;
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

/// Steps 3 and 4.
void prove_row_division(ProverContext& context) {
  const auto scope = context.transcript.scope("rows");
  const Plan& plan = context.plan;
  const Shape& rows = plan.shapes.block_row;
  const TensorPoint at = context.lookup.point(rows);
  const std::vector<Axis> keep(3);
  std::vector<E> inverse = contract(context.witness.tensors[plan.row_inverse], rows, keep, context.comm);
  std::vector<E> sums = contract(context.witness.row_sum, rows, keep, context.comm);
  const Point flat = to_flat_point(rows, at);
  context.committed("row_sum", plan.exponential.output, row_sum_weight(at), evaluate(sums, flat));
  const ProvenSumcheck sumcheck =
      prove_dense_sumcheck(context.transcript, ProductRelation{}, {std::move(inverse), std::move(sums)}, flat);
  const TensorPoint end = to_tensor_point(rows, sumcheck.point);
  context.committed("row_inverse", plan.row_inverse, weight_at(end), sumcheck.factors[0]);
  context.committed("row_sum", plan.exponential.output, row_sum_weight(end), sumcheck.factors[1]);
}

/// Step 5.
PointClaim prove_values(ProverContext& context, const TensorPoint& at, unsigned head_bits) {
  const auto scope = context.transcript.scope("values");
  const Plan& plan = context.plan;
  const TensorPoint row = row_point(at, head_bits);
  const Point place(at[1].begin() + head_bits, at[1].end());
  const auto block_bits = static_cast<unsigned>(row[0].size());
  const std::vector<E> weights = eq_table(join(row[0], row[1]));
  std::vector<E> exponential = contract(context.witness.tensors[plan.exponential.output], plan.shapes.scores,
                                        {Axis{}, Axis{}, eq_table(row[2]), Axis{}}, context.comm);
  const ProvenSumcheck sumcheck = prove_dense_sumcheck(
      context.transcript, TripleProductRelation{},
      {repeat_each(weights, plan.padded_tokens), std::move(exponential), values_at_place(context, place)});
  const Point block(sumcheck.point.begin(), sumcheck.point.begin() + block_bits);
  const Point head(sumcheck.point.begin() + block_bits, sumcheck.point.begin() + block_bits + head_bits);
  const Point key(sumcheck.point.begin() + block_bits + head_bits, sumcheck.point.end());
  context.committed("exponential", plan.exponential.output, weight_at({block, head, row[2], key}), sumcheck.factors[1]);
  context.transcript.send("v", sumcheck.factors[2]);
  return {{block, join(head, place), key}, sumcheck.factors[2]};
}

/// Step 7. A is the full product q*k^T of a present tile; on the outer cube all tiles are needed, so A is recomputed
/// from q and k at the inner point there.
TensorPoint prove_masking(ProverContext& context, const TensorPoint& at) {
  const auto scope = context.transcript.scope("mask");
  const Plan& plan = context.plan;
  const Shape& scores = plan.shapes.scores;
  const unsigned tile_bits = scores.dimensions()[2].log_chunk;
  const unsigned tiles = scores.dimensions()[2].outer_bits();
  ChunkedFactor mask;
  mask.fill = [&](std::size_t chunk, std::span<E> values) {
    const bool diagonal = scores.coordinate(chunk, 2) == scores.coordinate(chunk, 3);
    for (std::size_t x = 0; x < values.size(); ++x) {
      const bool seen = (x & ((std::size_t{1} << tile_bits) - 1)) <= x >> tile_bits;
      values[x] = !diagonal || seen ? E::one() : E::zero();
    }
  };
  mask.outer = [&](std::span<const E> inner_point) {
    const E diagonal = less_or_equal(inner_point.last(tile_bits), inner_point.first(tile_bits));
    std::vector<E> result(std::size_t{1} << scores.outer_bits());
    for (std::size_t x = 0; x < result.size(); ++x) {
      const std::size_t key = x & ((std::size_t{1} << tiles) - 1);
      const std::size_t query = (x >> tiles) & ((std::size_t{1} << tiles) - 1);
      result[x] = key < query ? E::one() : key == query ? diagonal : E::zero();
    }
    return result;
  };
  ChunkedFactor product;
  product.fill = [&](std::size_t chunk, std::span<E> values) { context.witness.fill_score_product(chunk, values); };
  product.outer = [&](std::span<const E> inner_point) {
    return context.witness.score_products_at(plan, inner_point, context.comm);
  };
  const std::vector<ChunkedFactor> factors{mask, product};
  const ProvenSumcheck sumcheck =
      prove_chunked_sumcheck(context.transcript, ProductRelation{}, scores, context.witness.by_head, factors,
                             to_flat_point(scores, at), context.comm);
  context.transcript.send("product", sumcheck.factors[1]);
  return to_tensor_point(scores, sumcheck.point);
}

}  // namespace

AttentionClaims prove_attention(ProverContext& context, std::vector<WeightedClaim> y_consumers) {
  ProverTranscript& transcript = context.transcript;
  const auto scope = transcript.scope("attention");
  const Plan& plan = context.plan;
  const Shape& heads = plan.head_feature;
  const Shape& scores = plan.shapes.scores;
  const unsigned head_bits = plan.shapes.block_row.dimensions()[1].outer_bits();
  AttentionClaims claims;

  // 1
  y_consumers.insert(y_consumers.begin(), {weight_at(context.lookup.point(heads)), E::zero()});
  const ReductionInput inputs{std::move(y_consumers)};
  const ReducedClaims y =
      prove_claim_reduction(context, heads, std::span(&context.witness.y, 1), std::span(&inputs, 1));
  prove_requantization(context, plan.y_remainder, y.point);
  // 2: R does not depend on the place in the head
  const Dimension place_dimension = Dimension::whole(plan.model.head_size());
  const Shape split(
      {heads.dimensions()[0], Dimension::outer(plan.model.n_head), place_dimension, heads.dimensions()[2]});
  const std::vector<E> inverse =
      contract(context.witness.tensors[plan.row_inverse], plan.shapes.block_row, std::vector<Axis>(3), context.comm);
  const std::vector<ChunkedFactor> factors{tensor_factor(context.witness.value_sum),
                                           broadcast_factor(split, inverse, {true, true, false, true})};
  const ProvenSumcheck normalization =
      prove_chunked_sumcheck(transcript, ProductRelation{}, heads, context.witness.by_head, factors,
                             to_flat_point(heads, y.point), context.comm);
  const TensorPoint value_point = to_tensor_point(heads, normalization.point);
  transcript.send("value_sum", normalization.factors[0]);
  context.committed("row_inverse", plan.row_inverse, weight_at(row_point(value_point, head_bits)),
                    normalization.factors[1]);
  // 3, 4, 5
  prove_row_division(context);
  claims.v = prove_values(context, value_point, head_bits);
  // 6
  const TensorPoint at = context.lookup.point(scores);
  context.committed("row_max", plan.row_max, {Factor::at(at[0]), Factor::at(at[1]), masked_row_weight(scores, at)});
  // 7
  const TensorPoint product_point = prove_masking(context, at);
  // 8
  const auto score_scope = transcript.scope("scores");
  const auto block_bits = static_cast<unsigned>(at[0].size());
  const std::size_t places = std::size_t{1} << place_dimension.log_chunk;
  const ProvenSumcheck sumcheck =
      prove_dense_sumcheck(transcript, TripleProductRelation{},
                           {repeat_each(eq_table(join(product_point[0], product_point[1])), places),
                            padded_at_token(context, context.witness.q, product_point[2]),
                            padded_at_token(context, context.witness.k, product_point[3])});
  const Point block(sumcheck.point.begin(), sumcheck.point.begin() + block_bits);
  const Point place(sumcheck.point.begin() + block_bits, sumcheck.point.end());
  claims.q = {{block, place, product_point[2]}, sumcheck.factors[1]};
  claims.k = {{block, place, product_point[3]}, sumcheck.factors[2]};
  transcript.send("q", claims.q.value);
  transcript.send("k", claims.k.value);
  return claims;
}

}  // namespace tessera
