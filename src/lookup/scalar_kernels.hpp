#pragma once

#include "lookup/level_kernels.hpp"

/// The kernels of level_kernels.hpp one node at a time: for machines without vectors, and to test the others against.
namespace tessera::scalar {

constexpr std::size_t lanes = block_lanes;

inline E load_element(const std::uint64_t (*rows)[lanes], std::size_t lane) {
  return {F::from_canonical(rows[0][lane]), F::from_canonical(rows[1][lane])};
}

inline void store_element(std::uint64_t (*rows)[lanes], std::size_t lane, E value) {
  rows[0][lane] = value.c0.value();
  rows[1][lane] = value.c1.value();
}

inline E load_weight(const WeightBlock* blocks, std::size_t i) {
  return load_element(blocks[i / lanes].row, i % lanes);
}

inline E denominator(const LeafIntegers& leaves, const LeafCode& code, std::size_t leaf) {
  const E q = code.shift - F::from_canonical(leaves.a(leaf));
  return leaves.has_b() ? q - code.lambda * F::from_signed(leaves.b(leaf)) : q;
}

inline void add(NodeSums& sums, E weight, const Denominators& low, const Denominators& high) {
  sums.at_zero += weight * (low.q0 * low.q1);
  sums.leading += weight * ((high.q0 - low.q0) * (high.q1 - low.q1));
}

/// p1 holds s.
inline void add(NodeSums& sums, E weight, const Children& low, const Children& high) {
  sums.at_zero += weight * (low.q0 * low.p1 + low.p0 * low.q1);
  sums.leading += weight * ((high.q0 - low.q0) * (high.p1 - low.p1) + (high.p0 - low.p0) * (high.q1 - low.q1));
}

inline void combine_children(const ChildrenBlock* in, ChildrenBlock* out, std::size_t count) {
  for (std::size_t x = 0; x < count; ++x) {
    const Fraction even = load_children(in, 2 * x).combine();
    const Fraction odd = load_children(in, 2 * x + 1).combine();
    store_children(out, x, {even.p, odd.p, even.q, odd.q});
  }
}

inline void add_tau(ChildrenBlock* nodes, E tau, std::size_t count) {
  for (std::size_t x = 0; x < count; ++x) {
    Children children = load_children(nodes, x);
    children.p1 += tau * children.q1;
    store_children(nodes, x, children);
  }
}

inline NodeSums first_round(ChildrenBlock* nodes, const WeightBlock* weights, E tau, std::size_t count) {
  NodeSums sums;
  for (std::size_t i = 0; i < count; ++i) {
    Children low = load_children(nodes, 2 * i);
    Children high = load_children(nodes, 2 * i + 1);
    low.p1 += tau * low.q1;
    high.p1 += tau * high.q1;
    store_children(nodes, 2 * i, low);
    store_children(nodes, 2 * i + 1, high);
    add(sums, load_weight(weights, i), low, high);
  }
  return sums;
}

inline void combine_leaves(const LeafIntegers& leaves, const LeafCode& code, ChildrenBlock* out, std::size_t count) {
  for (std::size_t x = 0; x < count; ++x) {
    E q[4];
    for (std::size_t i = 0; i < 4; ++i) {
      q[i] = denominator(leaves, code, 4 * x + i);
    }
    store_children(out, x, {q[0] + q[1], q[2] + q[3], q[0] * q[1], q[2] * q[3]});
  }
}

inline NodeSums leaf_first_round(const LeafIntegers& leaves, const LeafCode& code, const WeightBlock* weights,
                                 std::size_t count) {
  NodeSums sums;
  for (std::size_t i = 0; i < count; ++i) {
    const auto node = [&](std::size_t x) {
      return Denominators{denominator(leaves, code, 2 * x), denominator(leaves, code, 2 * x + 1)};
    };
    add(sums, load_weight(weights, i), node(2 * i), node(2 * i + 1));
  }
  return sums;
}

inline void store_node(ChildrenBlock* blocks, std::size_t i, const Children& node) { store_children(blocks, i, node); }
inline void store_node(DenominatorsBlock* blocks, std::size_t i, const Denominators& node) {
  store_element(blocks[i / lanes].row, i % lanes, node.q0);
  store_element(blocks[i / lanes].row + 2, i % lanes, node.q1);
}

/// Stores what `bound_node(i)` gives for i < count and sums weight*h over pairs of them.
template <class Block, class BoundNode>
NodeSums bind_nodes(Block* out, const WeightBlock* weights, std::size_t count, const BoundNode& bound_node) {
  NodeSums sums;
  for (std::size_t i = 0; i < count; i += 2) {
    const auto low = bound_node(i);
    const auto high = bound_node(i + 1);
    store_node(out, i, low);
    store_node(out, i + 1, high);
    add(sums, load_weight(weights, i / 2), low, high);
  }
  return sums;
}

inline NodeSums bind_round(const ChildrenBlock* in, ChildrenBlock* out, const WeightBlock* weights, E challenge,
                           std::size_t count) {
  return bind_nodes(out, weights, count, [&](std::size_t i) {
    return on_line(load_children(in, 2 * i), load_children(in, 2 * i + 1), challenge);
  });
}

inline NodeSums leaf_bind_round(const LeafIntegers& leaves, const LeafCode& code, DenominatorsBlock* out,
                                const WeightBlock* weights, E challenge, std::size_t count) {
  return bind_nodes(out, weights, count, [&](std::size_t i) {
    const auto q = [&](std::size_t leaf) { return denominator(leaves, code, 4 * i + leaf); };
    return Denominators{on_line(q(0), q(2), challenge), on_line(q(1), q(3), challenge)};
  });
}

inline void leaf_bind(const LeafIntegers& leaves, const LeafCode& code, DenominatorsBlock* out, E challenge,
                      std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto q = [&](std::size_t leaf) { return denominator(leaves, code, 4 * i + leaf); };
    store_node(out, i, Denominators{on_line(q(0), q(2), challenge), on_line(q(1), q(3), challenge)});
  }
}

inline void bind_children(const ChildrenBlock* in, ChildrenBlock* out, E challenge, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    store_children(out, i, on_line(load_children(in, 2 * i), load_children(in, 2 * i + 1), challenge));
  }
}

inline NodeSums denominators_bind_round(const DenominatorsBlock* in, DenominatorsBlock* out, const WeightBlock* weights,
                                        E challenge, std::size_t count) {
  return bind_nodes(out, weights, count, [&](std::size_t i) {
    return on_line(load_denominators(in, 2 * i), load_denominators(in, 2 * i + 1), challenge);
  });
}

inline void denominators_to_nodes(const DenominatorsBlock* in, ChildrenBlock* out, E challenge, E shift, E tau,
                                  std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto [q0, q1] = on_line(load_denominators(in, 2 * i), load_denominators(in, 2 * i + 1), challenge);
    store_children(out, i, {E::one(), E::one() + tau * (q1 - shift), q0 - shift, q1 - shift});
  }
}

inline E put_weights(const ProductWeights& weights, const std::uint64_t* indices, std::size_t present,
                     std::size_t count, WeightBlock* out) {
  E total;
  for (std::size_t i = 0; i < count; ++i) {
    const E weight = i < present ? weights[indices[i]] : E::zero();
    store_weight(out, i, weight);
    total += weight;
  }
  return total;
}

}  // namespace tessera::scalar
