#include <algorithm>
#include <map>
#include <stdexcept>
#include "lookup/layer_rounds.hpp"
#include "sumcheck/sumcheck_prove.hpp"

namespace tessera {
namespace {

/// One GKR layer's p0*q1 + p1*q0 + tau*q0*q1: segments of this rank, and the sparse nodes that all ranks share.
class LayerSummand final : public Summand {
 public:
  LayerSummand(const LookupInput& input, const std::vector<SegmentClass>& classes, TreeLayer nodes,
               const LayerContext& layer, Communicator& comm)
      : classes_(classes), layer_(layer), comm_(comm), sparse_(std::move(nodes.sparse)), parts_(classes.size()) {
    const unsigned height = input.structure.slots().log_leaves - static_cast<unsigned>(layer.at.size());
    for (std::size_t k = 0; k < classes.size(); ++k) {
      if (height == 1 && classes[k].kind != LeafKind::fractions) {
        parts_[k] = leaf_rounds(layer, input, classes[k]);
      } else if (height <= derived_height && classes[k].kind != LeafKind::fractions) {
        parts_[k] = derived_rounds(layer, input, classes[k], classes[k].log_leaves - height);
      } else if (classes[k].log_leaves > height) {
        parts_[k] = node_rounds(layer, classes[k], std::move(nodes.nodes[k]), classes[k].log_leaves - height);
      }
    }
  }

  [[nodiscard]] std::size_t degree() const override { return 2; }
  [[nodiscard]] bool homogeneous() const override { return true; }
  /// h(1) is never wanted: the claim is known, and no coordinate of a layer's point is 0 (but with probability 1/|E|).
  RoundSums first(bool /*with_one*/) override {
    return reduced([](SegmentRounds& part) { return part.first(); });
  }
  RoundSums bind(E challenge, bool /*with_one*/) override {
    --variables_;
    sparse_ = bind_sparse(sparse_, challenge);
    return reduced([&](SegmentRounds& part) { return part.bind(challenge); });
  }
  void end(E challenge) override { (void)bind(challenge, false); }

  /// The only node, all variables bound.
  [[nodiscard]] Children node() const { return sparse_.empty() ? Children{} : sparse_.front().children; }

 private:
  template <class Step>
  RoundSums reduced(const Step& step) {
    NodeSums sums;
    bool any = false;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      if (parts_[k] == nullptr) {
        continue;
      }
      any = true;
      sums += step(*parts_[k]);
      if (parts_[k]->log_length() == 0) {
        leave(k);
      }
    }
    if (any) {
      E both[2] = {sums.at_zero, sums.leading};
      comm_.all_reduce_sum(std::span<E>(both));
      sums = {both[0], both[1]};
    }
    if (variables_ > 0) {
      sums += sparse_sums(sparse_, layer_, variables_);
    }
    return {sums.at_zero + layer_.tau, E::zero(), sums.leading};  // beta sums to 1, so g's share of tau is tau
  }

  /// Segments of one node join the sparse list.
  void leave(std::size_t k) {
    std::vector<SparseNode> nodes;
    for (std::size_t i = 0; i < classes_[k].segments.size(); ++i) {
      nodes.push_back({classes_[k].segments[i].place, parts_[k]->node(i)});
    }
    insert_nodes(sparse_, gather_nodes(nodes, comm_));
    parts_[k] = nullptr;
  }

  const std::vector<SegmentClass>& classes_;
  const LayerContext& layer_;
  Communicator& comm_;
  std::vector<SparseNode> sparse_;
  std::vector<std::unique_ptr<SegmentRounds>> parts_;
  std::size_t variables_ = layer_.at.size();  // free ones
};

E evaluate_integers(std::span<const std::int64_t> values, std::span<const E> point) {
  const std::vector<E> high = eq_table(point.first(point.size() / 2));
  const std::vector<E> low = eq_table(point.subspan(point.size() / 2));
  E sum;
  for (std::size_t i = 0; i < high.size(); ++i) {
    E row;
    for (std::size_t x = 0; x < low.size(); ++x) {
      row += low[x] * F::from_signed(values[i * low.size() + x]);
    }
    sum += high[i] * row;
  }
  return sum;
}

/// The multilinear extensions of all columns and multiplicities at the point; every rank sums its segments.
LookupClaims evaluate_claims(const LookupInput& input, Point point, Communicator& comm) {
  const std::size_t columns = input.structure.columns.size();
  std::vector<E> values(2 * columns);
  std::map<unsigned, std::vector<E>> inner_tables;  // by inner bits
  for (std::size_t c = 0; c < columns; ++c) {
    const Shape& shape = input.structure.columns[c].shape;
    const std::span<const E> at = std::span(point).last(shape.bits());
    std::vector<E>& inner = inner_tables[shape.inner_bits()];
    if (inner.empty()) {
      inner = eq_table(at.last(shape.inner_bits()));
    }
    const bool pair = input.has_pairs(input.structure.columns[c].table);
    E a_sum;
    E b_sum;
#pragma omp parallel
    {
      std::vector<std::uint32_t> a(shape.chunk_size());
      std::vector<std::int32_t> b(pair ? shape.chunk_size() : 0);
#pragma omp for schedule(dynamic)
      for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
        if (chunk_owner(input.columns[c], shape, chunk, comm.size()) != comm.rank()) {
          continue;
        }
        input.columns[c].read(chunk, a, b);
        const E outer = eq_index(at.first(shape.outer_bits()), shape.outer_index(chunk));
        const E a_part = outer * dot_unsigned(inner.data(), a.data(), a.size());
        const E b_part = outer * dot_signed(inner.data(), b.data(), b.size());
#pragma omp critical(tessera_lookup_claims)
        {
          a_sum += a_part;
          b_sum += b_part;
        }
      }
    }
    values[2 * c] = a_sum;
    values[2 * c + 1] = b_sum;
  }
  comm.all_reduce_sum(std::span(values));
  LookupClaims claims{std::move(point), {}, {}, {}};
  for (std::size_t c = 0; c < columns; ++c) {
    claims.a.push_back(values[2 * c]);
    claims.b.push_back(values[2 * c + 1]);
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

}  // namespace

LookupClaims prove_lookup(ProverTranscript& transcript, const LookupStructure& structure,
                          std::span<const LookupColumnData> columns,
                          const std::vector<std::vector<std::int64_t>>& multiplicities, Communicator& comm) {
  check_input(structure, columns, multiplicities);
  const Transcript::Scope scope = transcript.scope("lookup");
  transcript.grind("work", structure.grinding_bits());
  const E alpha = transcript.challenge("alpha");
  const E lambda = transcript.challenge("lambda");
  // the sum of all fractions is 0/q
  const LookupInput input{structure, columns, multiplicities, alpha, lambda};
  const std::vector<SegmentClass> classes = make_segments(input, comm);
  FractionTree tree(input, classes, comm);
  E p;
  E q = tree.root().q;
  transcript.send("root", q);
  Point point;
  for (unsigned j = 0; j < tree.log_leaves(); ++j) {
    const Transcript::Scope layer_scope = transcript.scope("layer");
    // from a GKR layer's (p, q) to all its nodes' children at a point
    const E tau = transcript.challenge("tau");
    const PrefixEq eq(point);
    const LayerContext layer{point, tau, eq};
    LayerSummand summand(input, classes, tree.take_layer(j), layer, comm);
    Point end = prove_rounds(transcript, summand, point.size(), point, p + tau * q);
    // the children at this point, merged into the next GKR layer's (p, q)
    const Children child = summand.node();
    const E children[4] = {child.p0, child.p1, child.q0, child.q1};
    transcript.send("children", children);
    const E merge = transcript.challenge("merge");
    p = child.p0 + merge * (child.p1 - child.p0);
    q = child.q0 + merge * (child.q1 - child.q0);
    point = std::move(end);
    point.push_back(merge);
  }
  // the last GKR layer is the leaves, made from columns and tables
  LookupClaims claims = evaluate_claims(input, std::move(point), comm);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const E values[2] = {claims.a[c], claims.b[c]};
    transcript.send("column", std::span(values, input.has_pairs(structure.columns[c].table) ? 2 : 1));
  }
  transcript.send("multiplicities", claims.multiplicity);
  return claims;
}

}  // namespace tessera
