#include <algorithm>
#include "lookup/lookup.hpp"
#include "sumcheck/sumcheck.hpp"

namespace tessera {
namespace {

/// sum_x weights[x]*values[x] for |values| < 2^48: one reduction a component.
E dot(std::span<const E> weights, std::span<const std::int64_t> values) {
  __int128 sum0 = 0;
  __int128 sum1 = 0;
  for (std::size_t x = 0; x < values.size(); ++x) {
    sum0 += static_cast<__int128>(values[x]) * weights[x].c0.value();
    sum1 += static_cast<__int128>(values[x]) * weights[x].c1.value();
  }
  const auto reduce = [](__int128 sum) {
    return sum >= 0 ? F::reduce128(static_cast<unsigned __int128>(sum))
                    : -F::reduce128(0 - static_cast<unsigned __int128>(sum));
  };
  return {reduce(sum0), reduce(sum1)};
}

/// The multilinear extension of a table's values, rows of zeros (the upper half of EXP) skipped.
E evaluate_table(std::span<const std::int64_t> values, std::span<const E> point) {
  const std::size_t high_bits = point.size() / 2;
  const std::vector<E> high = eq_table(point.first(high_bits));
  const std::vector<E> low = eq_table(point.subspan(high_bits));
  E sum;
  for (std::size_t i = 0; i < high.size(); ++i) {
    const std::span<const std::int64_t> row = values.subspan(i * low.size(), low.size());
    if (row.front() != 0 || row.back() != 0 || std::ranges::any_of(row, [](std::int64_t v) { return v != 0; })) {
      sum += high[i] * dot(low, row);
    }
  }
  return sum;
}

/// The leaves' numerator and denominator at the claims' point; see lookup.hpp.
struct Leaves {
  E p;
  E q = E::one();  // neutral wherever no column or table row is present

  /// A part of the tree that is `presence` at the point (its slot's weight included) has these values there.
  void add(E presence, E numerator, E denominator) {
    p += numerator;
    q += denominator - presence;
  }
};

Leaves evaluate_leaves(const LookupStructure& structure, const LookupClaims& claims, E alpha, E lambda) {
  const LookupStructure::Slots slots = structure.slots();
  const std::span<const E> point = claims.point;
  const auto slot_weight = [&](std::size_t first, unsigned bits) {
    return eq_index(point.first(point.size() - bits), first >> bits);
  };
  const auto shift = [&](std::size_t table) { return alpha - lambda * lambda * E::from_unsigned(table + 1); };
  Leaves leaves;
  for (std::size_t c = 0; c < structure.columns.size(); ++c) {
    const LookupColumn& column = structure.columns[c];
    const E weight = slot_weight(slots.column[c], column.shape.bits());
    const E presence = presence_at(column.shape, to_tensor_point(column.shape, claims.column_point(column.shape)));
    const E denominator = shift(column.table) * presence - claims.a[c] - lambda * claims.b[c];
    leaves.add(weight * presence, weight * presence, weight * denominator);
  }
  for (std::size_t t = 0; t < structure.tables.size(); ++t) {
    const LookupTable& table = structure.tables[t];
    const E weight = slot_weight(slots.table[t], table.log_size);
    const std::span<const E> row = point.last(table.log_size);
    const E value = table.values.empty() ? E::zero() : evaluate_table(table.values, row);
    const E denominator = shift(t) - evaluate_identity(row) - lambda * value;
    leaves.add(weight, -(weight * claims.multiplicity[t]), weight * denominator);
  }
  return leaves;
}

LookupClaims receive_claims(VerifierTranscript& transcript, const LookupStructure& structure, Point point) {
  LookupClaims claims{std::move(point), {}, {}, {}};
  for (const LookupColumn& column : structure.columns) {
    const bool pair = !structure.tables[column.table].values.empty();
    const std::vector<E> values = transcript.receive("column", pair ? 2 : 1);
    claims.a.push_back(values.front());
    claims.b.push_back(pair ? values.back() : E::zero());
  }
  claims.multiplicity = transcript.receive("multiplicities", structure.tables.size());
  return claims;
}

}  // namespace

LookupClaims verify_lookup(VerifierTranscript& transcript, const LookupStructure& structure) {
  const Transcript::Scope scope = transcript.scope("lookup");
  // 0
  transcript.check_work("work", structure.grinding_bits());
  const E alpha = transcript.challenge("alpha");
  const E lambda = transcript.challenge("lambda");
  // 1
  E p;
  E q = transcript.receive("root");
  transcript.check(q != E::zero(), "a denominator is zero");
  Point point;
  const unsigned layers = structure.slots().log_leaves;
  for (unsigned layer = 0; layer < layers; ++layer) {
    const Transcript::Scope layer_scope = transcript.scope("layer");
    // 2
    const E tau = transcript.challenge("tau");
    SumcheckResult end = verify_eq_sumcheck(transcript, p + tau * q, point, 2);
    // 3
    const std::vector<E> child = transcript.receive("children", 4);
    const E p0 = child[0], p1 = child[1], q0 = child[2], q1 = child[3];
    transcript.check(end.value == p0 * q1 + p1 * q0 + tau * q0 * q1, "a node is not the sum of its children");
    const E merge = transcript.challenge("merge");
    p = p0 + merge * (p1 - p0);
    q = q0 + merge * (q1 - q0);
    point = std::move(end.point);
    point.push_back(merge);
  }
  // 4
  LookupClaims claims = receive_claims(transcript, structure, std::move(point));
  const Leaves leaves = evaluate_leaves(structure, claims, alpha, lambda);
  transcript.check(leaves.p == p, "numerators of the leaves do not match the columns and multiplicities");
  transcript.check(leaves.q == q, "denominators of the leaves do not match the columns and tables");
  return claims;
}

}  // namespace tessera
