#include "layers/attention/attention.hpp"
#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/requantization.hpp"
#include "sumcheck/product_relations.hpp"

namespace tessera {
namespace {

/// Steps 3 and 4: R is the quotient of 2^46 by the row sum D, and D counts a maximum.
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
  const S sum = context.committed("row_sum", attention.exponential.output, row_sum_weight(at, attention.key_bits));
  transcript.check_equal(sum, quotient * two_to_the(attention.kappa) + count,
                         "row sum does not match its quotient and count of maxima");
  transcript.check_equal(context.lookup.value(attention.division_complement), sum - present - remainder,
                         "remainder of the division is not below the row sum");
  const S target = present * two_to_the(softmax_shift) - remainder;
  const auto sumcheck = verify_eq_sumcheck(transcript, target, to_flat_point(rows, at), ProductRelation{}.degree());
  const TensorPoint end = to_tensor_point(rows, sumcheck.point);
  const S inverse = context.committed("row_inverse", attention.row_inverse.tensor, weight_at(end));
  const S end_sum = context.committed("row_sum", attention.exponential.output, row_sum_weight(end, attention.key_bits));
  transcript.check_equal(transcript.product(inverse, end_sum), sumcheck.value,
                         "row sum times inverse does not match the sum-check");
}

/// Step 5, the second product O = e*v at a point; returns the claim on v.
template <class S>
PointClaimOf<S> verify_values(VerifierContext<S>& context, const AttentionPlan& attention, const TensorPoint& at,
                              S value) {
  VerifierView<S>& transcript = context.transcript;
  const auto scope = transcript.scope("values");
  const std::vector<Dimension>& keys = attention.keys.dimensions();
  const std::array over{keys[0], keys[1], keys[3]};
  const auto sumcheck = verify_sumcheck(transcript, value, over[0].bits() + over[1].bits() + over[2].bits(), 3);
  const TensorPoint end = deal(over, sumcheck.point);
  const S exponential =
      context.committed("exponential", attention.exponential.output, weight_at({end[0], end[1], at[2], at[4], end[2]}));
  const S v = transcript.receive("v");
  const std::array<S, 3> factors{eq(at[0], end[0]) * eq(at[1], end[1]), exponential, v};
  transcript.check_equal(transcript.value(TripleProductRelation{}, factors), sumcheck.value,
                         "value product does not match the sum-check");
  return {{end[0], end[1], at[3], end[2]}, v};
}

/// Step 6, from what soft-max takes at the look-up point to Z*A there, or where scores are capped and may be clamped at
/// another point.
template <class S>
PointClaimOf<S> verify_scores_taken(VerifierContext<S>& context, const AttentionPlan& attention, const S& taken) {
  const Shape& scores = attention.scores;
  const TensorPoint at = context.lookup.point(scores);
  if (!attention.capped) {
    return {at, requantized<S>(scores, at, taken, context.lookup.value(attention.score_remainder),
                               static_cast<unsigned>(attention.score_shift))};
  }
  context.transcript.identity(scores.bits(), "identity at the look-up point");
  context.transcript.check_equal(context.lookup.output(*attention.capped), taken,
                                 "capped scores do not match their distances from the maximum");
  const S score =
      context.lookup.input(*attention.capped) - presence_at(scores, at) * two_to_the(cap_table_log_size - 1);
  return looked_up(context, attention.capped->clamp, attention.score, attention.score_remainder, score);
}

/// Step 7, the mask: Z*A at a point of the scores; returns the claim on A.
template <class S>
PointClaimOf<S> verify_masking(VerifierContext<S>& context, const AttentionPlan& attention, const TensorPoint& at,
                               const S& masked) {
  VerifierView<S>& transcript = context.transcript;
  const auto scope = transcript.scope("mask");
  const Shape masks = attention.masks();
  transcript.identity(attention.scores.bits() - masks.bits(), unsummed_identity);
  const auto sumcheck = verify_eq_sumcheck(transcript, masked, to_flat_point(masks, mask_point(attention, at)),
                                           ProductRelation{}.degree());
  const TensorPoint end = with_mask_point(attention, at, to_tensor_point(masks, sumcheck.point));
  const S product = transcript.receive("product");
  transcript.check_equal(mask_at(attention, end) * product, sumcheck.value, "masked scores do not match the sum-check");
  return {end, product};
}

/// Step 8, the first product A = q*k^T at a point; returns the claims on q and k.
template <class S>
std::array<PointClaimOf<S>, 2> verify_scores(VerifierContext<S>& context, const AttentionPlan& attention,
                                             const PointClaimOf<S>& product) {
  VerifierView<S>& transcript = context.transcript;
  const auto scope = transcript.scope("scores");
  const TensorPoint& at = product.point;
  const std::span<const Dimension> over = std::span(attention.keys.dimensions()).first(3);
  const auto sumcheck = verify_sumcheck(transcript, product.value, over[0].bits() + over[1].bits() + over[2].bits(),
                                        TripleProductRelation{}.degree());
  const TensorPoint end = deal(over, sumcheck.point);
  const S q = transcript.receive("q");
  const S k = transcript.receive("k");
  const std::array<S, 3> factors{eq(at[0], end[0]) * eq(at[1], end[1]), q, k};
  transcript.check_equal(transcript.value(TripleProductRelation{}, factors), sumcheck.value,
                         "scores do not match the sum-check");
  return {{{{end[0], end[1], at[2], end[2], at[3]}, q}, {{end[0], end[1], end[2], at[4]}, k}}};
}

}  // namespace

TensorPoint row_point(const TensorPoint& point) { return {point[0], point[1], point[2], point[4]}; }

TensorPoint with_row_point(const TensorPoint& point, const TensorPoint& row) {
  return {row[0], row[1], row[2], point[3], row[3]};
}

TensorPoint head_point_of(const AttentionPlan& attention, const TensorPoint& point) {
  // chunks and order of y are those of its head points
  return to_tensor_point(attention.queries, to_flat_point(attention.head_feature, point));
}

TensorPoint mask_point(const AttentionPlan& attention, const TensorPoint& point) {
  TensorPoint mask{point[3], point[4]};
  if (attention.scores.windows().empty()) {
    return mask;
  }
  mask.insert(mask.begin(), point[0]);
  return mask;
}

TensorPoint with_mask_point(const AttentionPlan& attention, const TensorPoint& point, const TensorPoint& mask) {
  TensorPoint result = point;
  std::ranges::copy(std::span(mask).last(2), result.begin() + 3);
  if (!attention.scores.windows().empty()) {
    result[0] = mask[0];
  }
  return result;
}

std::vector<Factor> row_sum_weight(const TensorPoint& row, unsigned key_bits) {
  std::vector<Factor> weight = weight_at(row);
  weight.push_back(Factor::ones(key_bits));
  return weight;
}

namespace {

/// Weights of the blocks with each window, of those that have one and of those that have none.
struct WindowKind {
  std::size_t window = 0, some_block = 0;
  std::vector<E> blocks;  // beta(p_b, b), 0 of others
};

std::vector<WindowKind> window_kinds(const AttentionPlan& attention, const Point& block) {
  std::vector<WindowKind> kinds;
  const std::vector<E> all = eq_table(block);
  for (std::size_t b = 0; b < attention.scores.windows().size(); ++b) {
    const std::size_t window = attention.scores.window(b);
    auto kind = std::ranges::find(kinds, window, &WindowKind::window);
    if (kind == kinds.end()) {
      kind = kinds.insert(kinds.end(), {window, b, std::vector<E>(all.size())});
    }
    kind->blocks[b] = all[b];
  }
  return kinds;
}

/// The multilinear extension of the keys before the windows of the blocks that have one, of rows below `bound`.
E before_windows(const AttentionPlan& attention, const TensorPoint& point, std::size_t bound) {
  E sum;
  for (const WindowKind& kind : window_kinds(attention, point[0])) {
    if (kind.window == 0) {
      continue;
    }
    E blocks;
    for (const E& weight : kind.blocks) {
      blocks += weight;
    }
    sum += blocks * less_or_equal_shifted(point[4], point[3], kind.window, attention.past, bound);
  }
  return sum;
}

/// Along tokens beta(p_q,i)*sum over the keys that i sees in a block of beta(p_k,k).
Factor seen_rows(const AttentionPlan& attention, const TensorPoint& point, std::size_t block) {
  Factor weight = Factor::of(eq_table(point[3]));
  for (std::size_t i = 0; i < attention.rows.dimensions().back().filled(); ++i) {
    E keys = less_than(point[4], attention.past + i + 1);
    if (const std::size_t first = attention.scores.first_key(block, i); first > 0) {
      keys -= less_than(point[4], first);
    }
    weight.head[i] *= keys;
  }
  return weight;
}

}  // namespace

std::vector<std::vector<Factor>> seen_row_weights(const AttentionPlan& attention, const TensorPoint& point) {
  const auto weight = [&](Factor block, Factor rows) {
    return std::vector<Factor>{std::move(block), Factor::at(point[1]), Factor::at(point[2]), std::move(rows)};
  };
  if (attention.scores.windows().empty()) {
    return {weight(Factor::at(point[0]), seen_rows(attention, point, 0))};
  }
  std::vector<std::vector<Factor>> weights;
  for (WindowKind& kind : window_kinds(attention, point[0])) {
    weights.push_back(weight(Factor::of(std::move(kind.blocks)), seen_rows(attention, point, kind.some_block)));
  }
  return weights;
}

E mask_at(const AttentionPlan& attention, const TensorPoint& point) {
  return less_or_equal(point[4], point[3], attention.past) - before_windows(attention, point, SIZE_MAX);
}

E masked_places(const AttentionPlan& attention, const TensorPoint& point) {
  E seen = less_or_equal(point[4], point[3], attention.past, attention.rows.dimensions().back().filled());
  seen *= less_than(point[0], attention.scores.dimensions()[0].length);
  seen -= before_windows(attention, point, attention.rows.dimensions().back().filled());
  for (std::size_t j = 1; j < 3; ++j) {
    seen *= less_than(point[j], attention.scores.dimensions()[j].length);
  }
  return presence_at(attention.scores, point) - seen;
}

template <class S>
AttentionClaimsOf<S> run(VerifierContext<S>& context, const AttentionPlan& attention,
                         std::type_identity_t<std::vector<WeightedClaimOf<S>>> y_consumers) {
  VerifierView<S>& transcript = context.transcript;
  const auto scope = transcript.scope("attention");
  const Shape& scores = attention.scores;
  // all claims on y become one on O*R at the same point
  const PointClaimOf<S> normalized =
      requantized_claims(context, attention.y, attention.y_remainder, std::move(y_consumers));
  // O*R from O and R; R does not depend on the place in the head, which stays where it is
  const TensorPoint head_point = head_point_of(attention, normalized.point);
  transcript.identity(head_point[3].size(), unsummed_identity);
  const auto normalization = verify_eq_sumcheck(
      transcript, normalized.value, to_flat_point(attention.rows, row_point(head_point)), ProductRelation{}.degree());
  const TensorPoint value_point = with_row_point(head_point, to_tensor_point(attention.rows, normalization.point));
  const S value_sum = transcript.receive("value_sum");
  const S inverse = context.committed("row_inverse", attention.row_inverse.tensor, weight_at(row_point(value_point)));
  transcript.check_equal(transcript.product(value_sum, inverse), normalization.value,
                         "normalization does not match the sum-check");
  verify_row_division(context, attention);
  const PointClaimOf<S> v = verify_values(context, attention, value_point, value_sum);
  // the distance to the row's maximum gives the scores, and they the masked product
  const TensorPoint at = context.lookup.point(scores);
  S row_max{};
  for (std::vector<Factor>& weight : seen_row_weights(attention, at)) {
    row_max += context.committed("row_max", attention.row_max.tensor, std::move(weight));
  }
  const S taken = row_max + masked_places(attention, at) * F::from_signed(softmax_infinity) -
                  context.lookup.input(attention.exponential) -
                  context.exceptions.excess_at(attention.exponential.clamp, at);
  check_limits(context, attention.exponential.clamp, attention.exponential.output);
  const PointClaimOf<S> masked = verify_scores_taken<S>(context, attention, taken);
  const PointClaimOf<S> product = verify_masking(context, attention, masked.point, masked.value);
  const auto [q, k] = verify_scores(context, attention, product);
  return {q, k, v};
}

#define INSTANTIATE(S) \
  template AttentionClaimsOf<S> run(VerifierContext<S>&, const AttentionPlan&, std::vector<WeightedClaimOf<S>>);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
