#include <algorithm>
#include <stdexcept>
#include "lookup/column_evaluation.hpp"
#include "lookup/integer_evaluation.hpp"
#include "lookup/level_rounds.hpp"
#include "sumcheck/sumcheck_prove.hpp"

namespace tessera {
namespace {

/// One level's p0*q1 + p1*q0 + tau*q0*q1: segments of this rank, its own nodes above them, and those that all ranks
/// share.
class LevelSummand final : public Summand {
 public:
  LevelSummand(const LookupInput& input, const std::vector<SegmentClass>& classes, const NodeOwners& owners,
               FractionLevel nodes, const LevelContext& level, Communicator& comm)
      : classes_(classes),
        owners_(owners),
        level_(level),
        comm_(comm),
        sparse_(std::move(nodes.sparse)),
        parts_(classes.size()),
        height_(input.structure.slots().log_leaves - static_cast<unsigned>(level.at.size())) {
    for (std::size_t k = 0; k < classes.size(); ++k) {
      if (classes[k].log_leaves > height_) {
        parts_[k] = segment_rounds(level, input, classes[k], std::move(nodes.nodes[k]), height_);
      }
    }
  }

  [[nodiscard]] std::size_t degree() const override { return 2; }
  [[nodiscard]] bool homogeneous() const override { return true; }
  /// h(1) is never wanted: the claim is known, and no coordinate of a level's point is 0 (but with probability 1/|E|).
  RoundSums first(bool /*with_one*/) override {
    return sums(false, [](SegmentRounds& part) { return part.first(); });
  }
  RoundSums bind(E challenge, bool /*with_one*/) override {
    --variables_;
    const bool moving = height_ < owners_.top();
    ++height_;
    bind_sparse(sparse_.own, challenge);
    bind_sparse(sparse_.shared, challenge);
    return sums(moving, [&](SegmentRounds& part) { return part.bind(challenge); });
  }
  void end(E challenge) override { (void)bind(challenge, false); }

  /// The only node, all variables bound.
  [[nodiscard]] Children node() const { return sparse_.shared.empty() ? Children{} : sparse_.shared.front().children; }

 private:
  /// `moving`: nodes have become others, which may be due elsewhere.
  template <class Step>
  RoundSums sums(bool moving, const Step& step) {
    NodeSums sums;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      if (parts_[k] == nullptr) {
        continue;
      }
      sums += step(*parts_[k]);
      if (parts_[k]->log_length() == 0) {
        sparse_.add(classes_[k], [&](std::size_t i) { return parts_[k]->node(i); });
        parts_[k] = nullptr;
      }
    }
    if (moving) {
      sparse_.move(owners_, height_, comm_);
    }
    if (height_ < owners_.top()) {
      sums += sparse_sums(sparse_.own, level_, variables_);
      E both[2] = {sums.at_zero, sums.leading};
      comm_.all_reduce_sum(std::span<E>(both));
      sums = {both[0], both[1]};
    }
    if (variables_ > 0) {
      sums += sparse_sums(sparse_.shared, level_, variables_);
    }
    return {sums.at_zero + level_.tau, E::zero(), sums.leading};  // beta sums to 1, so g's share of tau is tau
  }

  const std::vector<SegmentClass>& classes_;
  const NodeOwners& owners_;
  const LevelContext& level_;
  Communicator& comm_;
  SparseNodes sparse_;
  std::vector<std::unique_ptr<SegmentRounds>> parts_;
  unsigned height_;                           // above the leaves, of what the nodes have become
  std::size_t variables_ = level_.at.size();  // free ones
};

/// The multilinear extensions of all columns and multiplicities at the point.
LookupClaims evaluate_claims(const LookupInput& input, Point point, Communicator& comm) {
  LookupClaims claims{std::move(point), {}, {}, {}};
  for (const ColumnValues& values : evaluate_columns(input, claims.point, comm)) {
    claims.a.push_back(values.a);
    claims.b.push_back(values.b);
  }
  for (std::size_t t = 0; t < input.structure.tables.size(); ++t) {
    const std::span<const E> at = std::span(claims.point).last(input.structure.tables[t].log_size);
    claims.multiplicity.push_back(evaluate_integers(input.multiplicities[t], at));
  }
  return claims;
}

void check_input(const LookupStructure& structure, std::span<const LookupColumnData> columns,
                 const std::vector<std::vector<std::int64_t>>& multiplicities) {
  bool ok = columns.size() == structure.columns.size() && multiplicities.size() == structure.tables.size();
  for (std::size_t t = 0; ok && t < structure.tables.size(); ++t) {
    ok = multiplicities[t].size() == std::size_t{1} << structure.tables[t].log_size;
  }
  if (!ok) {
    throw std::logic_error("prove_lookup: columns or multiplicities do not fit the structure");
  }
}

/// The sum of all fractions is 0/q.
LookupClaims prove_tree(ProverTranscript& transcript, const LookupInput& input, Communicator& comm) {
  std::vector<Ownership> owners;
  for (const LookupColumnData& column : input.columns) {
    owners.push_back(column.ownership);
  }
  const NodeOwners nodes(input.structure, owners, comm.rank(), comm.size());
  const std::vector<SegmentClass> classes = make_segments(input, nodes.top(), comm);
  FractionTree tree(input, classes, nodes, comm);
  E p;
  E q = tree.root().q;
  transcript.send("root", q);
  transcript.send_hidden("inverse", q.inverse());
  Point point;
  for (unsigned j = 0; j < tree.log_leaves(); ++j) {
    const Transcript::Scope level_scope = transcript.scope("layer");
    // from a level's (p, q) to all its nodes' children at a point
    const E tau = transcript.challenge("tau");
    const PrefixEq eq(point);
    const LevelContext level{point, tau, eq};
    LevelSummand summand(input, classes, nodes, tree.take_level(j), level, comm);
    Point end = prove_rounds(transcript, summand, point.size(), point, p + tau * q);
    // the children at this point, merged into the next level's (p, q)
    const Children child = summand.node();
    const E children[4] = {child.p0, child.p1, child.q0, child.q1};
    transcript.send("children", children);
    const E merge = transcript.challenge("merge");
    p = on_line(child.p0, child.p1, merge);
    q = on_line(child.q0, child.q1, merge);
    point = std::move(end);
    point.push_back(merge);
  }
  // the last level is the leaves, made from columns and tables
  LookupClaims claims = evaluate_claims(input, std::move(point), comm);
  for (std::size_t c = 0; c < claims.a.size(); ++c) {
    const E values[2] = {claims.a[c], claims.b[c]};
    transcript.send("column", std::span(values, input.has_pairs(input.structure.columns[c].table) ? 2 : 1));
  }
  transcript.send("multiplicities", claims.multiplicity);
  return claims;
}

}  // namespace

LookupClaims prove_lookup(ProverTranscript& transcript, const LookupStructure& structure,
                          std::span<const LookupColumnData> columns,
                          const std::vector<std::vector<std::int64_t>>& multiplicities, Communicator& comm) {
  check_input(structure, columns, multiplicities);
  const Transcript::Scope scope = transcript.scope("lookup");
  transcript.grind("work", structure.grinding_bits(), comm);
  const E alpha = transcript.challenge("alpha");
  const E lambda = transcript.challenge("lambda");
  return prove_tree(transcript, {structure, columns, multiplicities, alpha, lambda}, comm);
}

}  // namespace tessera
