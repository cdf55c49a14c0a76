#include "subprotocols/rotary.hpp"

#include "subprotocols/claim_reduction.hpp"

namespace tessera {
namespace {

/// The coordinates of half, place and token.
std::span<const Point, 3> last_three(const TensorPoint& point) { return std::span(point).last<3>(); }

/// sum_i weights[i]*(entries[i] + 2^15), reduced at the end: below 2^64 * 2^16 * 2^8.
E shifted_sum(std::span<const E> weights, std::span<const std::int16_t> entries) {
  unsigned __int128 c0 = 0;
  unsigned __int128 c1 = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto entry = static_cast<std::uint64_t>(entries[i] + (1 << 15));
    c0 += static_cast<unsigned __int128>(weights[i].c0.value()) * entry;
    c1 += static_cast<unsigned __int128>(weights[i].c1.value()) * entry;
  }
  return {F::reduce128(c0), F::reduce128(c1)};
}

}  // namespace

namespace {

/// Rot of one table, of half, place and token.
E rotation_of_table(const Rotary& rotary, std::size_t table, const TensorPoint& r, const TensorPoint& z) {
  const std::span<const Point, 3> from = last_three(r);
  const std::span<const Point, 3> to = last_three(z);
  std::vector<E> place = eq_table(from[1]);
  const std::vector<E> place_end = eq_table(to[1]);
  for (std::size_t i = 0; i < place.size(); ++i) {
    place[i] *= place_end[i];
  }
  const std::vector<E> token = eq_table(from[2]);
  const std::vector<E> token_end = eq_table(to[2]);
  E all;  // of the places
  for (std::size_t i = 0; i < rotary.half; ++i) {
    all += place[i];
  }
  const E excess = all * two_to_the(15);
  E cos;
  E sin;
  for (std::size_t t = 0; t < token.size(); ++t) {
    const E weight = token[t] * token_end[t];
    cos += weight * (shifted_sum(place, rotary.cos(table, t)) - excess);
    sin += weight * (shifted_sum(place, rotary.sin(table, t)) - excess);
  }
  const E second = from[0].front();
  const E first = E::one() - second;
  return on_line(first * cos + second * sin, second * cos - first * sin, to[0].front());
}

}  // namespace

E rotation_at(const Rotary& rotary, const TensorPoint& r, const TensorPoint& z) {
  if (!rotary.by_block()) {
    return rotation_of_table(rotary, 0, r, z);
  }
  std::vector<E> blocks;  // that turn by each table
  for (std::size_t b = 0; b < rotary.table_of_block.size(); ++b) {
    blocks.resize(std::max(blocks.size(), rotary.table_of(b) + 1));
    blocks[rotary.table_of(b)] += eq_index(r.front(), b) * eq_index(z.front(), b);
  }
  E sum;
  for (std::size_t table = 0; table < blocks.size(); ++table) {
    sum += blocks[table] * rotation_of_table(rotary, table, r, z);
  }
  return sum;
}

template <class S>
std::vector<PointClaimOf<S>> unrotated(VerifierContext<S>& context, const Rotary& rotary,
                                       std::type_identity_t<std::span<const PointClaimOf<S>>> rotated,
                                       std::span<const RotatedValues> /*values*/) {
  VerifierView<S>& transcript = context.transcript;
  const auto scope = transcript.scope("rotary");
  const std::size_t n = rotated.size();
  const E lambda =
      n > 1 ? transcript.challenge("lambda", static_cast<double>(n - 1), "combination of rotations") : E::one();
  const std::vector<E> scale = powers(lambda, n);
  S target{};
  std::size_t variables = rotary.by_block() ? rotated.front().point.front().size() : 0;
  for (std::size_t k = 0; k < n; ++k) {
    target += scale[k] * rotated[k].value;
  }
  for (const Point& coordinates : last_three(rotated.front().point)) {
    variables += coordinates.size();
  }
  const ReductionRelation relation{n};
  const auto sumcheck = verify_sumcheck(transcript, target, variables, relation.degree());
  std::vector<S> factors = transcript.receive("values", n);
  std::vector<PointClaimOf<S>> claims;
  for (std::size_t k = 0; k < n; ++k) {
    claims.push_back({rotation_end(rotary, rotated[k].point, sumcheck.point), factors[k]});
    factors.push_back(scale[k] *
                      transcript.public_value([&] { return rotation_at(rotary, rotated[k].point, claims[k].point); }));
  }
  transcript.check_equal(transcript.value(relation, factors), sumcheck.value, "rotation does not match the sum-check");
  return claims;
}

TensorPoint rotation_end(const Rotary& rotary, const TensorPoint& r, std::span<const E> end) {
  TensorPoint point = r;
  const E* from = end.data();
  const auto take = [&from](Point& coordinates) {
    std::copy_n(from, coordinates.size(), coordinates.begin());
    from += coordinates.size();
  };
  if (rotary.by_block()) {
    take(point.front());
  }
  for (Point& coordinates : std::span(point).last<3>()) {
    take(coordinates);
  }
  return point;
}

#define INSTANTIATE(S)                                                                \
  template std::vector<PointClaimOf<S>> unrotated(VerifierContext<S>&, const Rotary&, \
                                                  std::span<const PointClaimOf<S>>, std::span<const RotatedValues>);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
