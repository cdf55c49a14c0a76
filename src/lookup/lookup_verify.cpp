#include <algorithm>
#include <cmath>
#include "lookup/integer_evaluation.hpp"
#include "lookup/lookup.hpp"
#include "sumcheck/sumcheck.hpp"

namespace tessera {
namespace {

/// The leaves' numerator and denominator at the claims' point; see lookup.hpp.
template <class S>
struct Leaves {
  S p{};
  S q = E::one();  // neutral wherever no column or table row is present

  /// A part of the tree that is `presence` at the point (its slot's weight included) has these values there.
  void add(E presence, S numerator, S denominator) {
    p += numerator;
    q += denominator - presence;
  }
};

template <class S>
Leaves<S> evaluate_leaves(const VerifierView<S>& transcript, const LookupStructure& structure,
                          const LookupStructure::Slots& slots, const LookupClaimsOf<S>& claims, E alpha, E lambda) {
  const std::span<const E> point = claims.point;
  const auto slot_weight = [&](std::size_t first, unsigned bits) {
    return transcript.public_value([&] { return eq_index(point.first(point.size() - bits), first >> bits); });
  };
  const auto shift = [&](std::size_t table) { return alpha - lambda * lambda * E::from_unsigned(table + 1); };
  Leaves<S> leaves;
  for (std::size_t c = 0; c < structure.columns.size(); ++c) {
    const LookupColumn& column = structure.columns[c];
    const E weight = slot_weight(slots.column[c], column.shape.bits());
    const E presence = transcript.public_value(
        [&] { return presence_at(column.shape, to_tensor_point(column.shape, claims.column_point(column.shape))); });
    const S denominator = shift(column.table) * presence - claims.a[c] - lambda * claims.b[c];
    leaves.add(weight * presence, weight * presence, weight * denominator);
  }
  for (std::size_t t = 0; t < structure.tables.size(); ++t) {
    const LookupTable& table = structure.tables[t];
    const E weight = slot_weight(slots.table[t], table.log_size);
    const std::span<const E> row = point.last(table.log_size);
    const E value = table.values.empty()
                        ? E::zero()
                        : transcript.public_value([&] { return evaluate_integers(table.values, row); });
    const E denominator = shift(t) - evaluate_identity(row) - lambda * value;
    leaves.add(weight, -(weight * claims.multiplicity[t]), weight * denominator);
  }
  return leaves;
}

template <class S>
LookupClaimsOf<S> receive_claims(VerifierView<S>& transcript, const LookupStructure& structure, Point point) {
  LookupClaimsOf<S> claims{std::move(point), {}, {}, {}};
  for (const LookupColumn& column : structure.columns) {
    const bool pair = !structure.tables[column.table].values.empty();
    const std::vector<S> values = transcript.receive("column", pair ? 2 : 1);
    claims.a.push_back(values.front());
    claims.b.push_back(pair ? values.back() : S{});
  }
  claims.multiplicity = transcript.receive("multiplicities", structure.tables.size());
  return claims;
}

}  // namespace

template <class S>
LookupClaimsOf<S> verify_lookup(VerifierView<S>& transcript, const LookupStructure& structure) {
  const Transcript::Scope scope = transcript.scope("lookup");
  const LookupStructure::Slots slots = structure.slots();
  // alpha and lambda: cleared of denominators, the sum of N fractions has degree below N in alpha, 2*N in lambda;
  // rounded up to 4*N
  const double half_error = 2 * std::exp2(slots.log_leaves);
  transcript.check_work("work", structure.grinding_bits());
  const E alpha = transcript.challenge("alpha", half_error, "sum of fractions");
  const E lambda = transcript.challenge("lambda", half_error, "sum of fractions");
  // the sum of all fractions is 0/q
  S p{};
  S q = transcript.receive("root");
  transcript.check_nonzero(q, "a denominator is zero");
  Point point;
  for (unsigned level = 0; level < slots.log_leaves; ++level) {
    const Transcript::Scope level_scope = transcript.scope("layer");
    // from a level's (p, q) to all its nodes' children at a point
    const E tau = transcript.challenge("tau", 1, "tau and merge");
    auto end = verify_eq_sumcheck<S>(transcript, p + tau * q, point, 2);
    // the children at this point, merged into the next level's (p, q)
    const std::vector<S> child = transcript.receive("children", 4);
    const S &p0 = child[0], &p1 = child[1], &q0 = child[2], &q1 = child[3];
    const S sum = transcript.product(p0, q1) + transcript.product(p1, q0) + tau * transcript.product(q0, q1);
    transcript.check_equal(end.value, sum, "a node is not the sum of its children");
    const E merge = transcript.challenge("merge", 1, "tau and merge");
    p = p0 + merge * (p1 - p0);
    q = q0 + merge * (q1 - q0);
    point = std::move(end.point);
    point.push_back(merge);
  }
  // the last level is the leaves, made from columns and tables
  LookupClaimsOf<S> claims = receive_claims(transcript, structure, std::move(point));
  const Leaves<S> leaves = evaluate_leaves(transcript, structure, slots, claims, alpha, lambda);
  transcript.check_equal(leaves.p, p, "numerators of the leaves do not match the columns and multiplicities");
  transcript.check_equal(leaves.q, q, "denominators of the leaves do not match the columns and tables");
  return claims;
}

#define INSTANTIATE(S) template LookupClaimsOf<S> verify_lookup(VerifierView<S>&, const LookupStructure&);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
