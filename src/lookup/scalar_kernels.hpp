#pragma once

#include "lookup/layer_kernels.hpp"

/// The kernels of layer_kernels.hpp one node at a time: for machines without vectors, and to test the others against.
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

inline E on_line(E low, E high, E challenge) { return low + challenge * (high - low); }

inline E denominator(const LeafIntegers& leaves, const LeafCode& code, std::size_t leaf) {
  const E q = code.shift - F::from_canonical(leaves.a(leaf));
  return leaves.b == nullptr ? q : q - code.lambda * F::from_signed(leaves.b[leaf]);
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

inline NodeSums bind_round(const ChildrenBlock* in, ChildrenBlock* out, const WeightBlock* weights, E challenge,
                           std::size_t count) {
  NodeSums sums;
  Children even;
  for (std::size_t i = 0; i < count; ++i) {
    const Children low = load_children(in, 2 * i);
    const Children high = load_children(in, 2 * i + 1);
    const Children bound{on_line(low.p0, high.p0, challenge), on_line(low.p1, high.p1, challenge),
                         on_line(low.q0, high.q0, challenge), on_line(low.q1, high.q1, challenge)};
    store_children(out, i, bound);
    if (i % 2 == 0) {
      even = bound;
    } else {
      add(sums, load_weight(weights, i / 2), even, bound);
    }
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

/// Stores what `bound_node(i)` gives for i < count and sums weight*h over pairs of them.
template <class BoundNode>
NodeSums bind_denominators(DenominatorsBlock* out, const WeightBlock* weights, std::size_t count,
                           const BoundNode& bound_node) {
  NodeSums sums;
  Denominators even;
  for (std::size_t i = 0; i < count; ++i) {
    const Denominators bound = bound_node(i);
    store_element(out[i / lanes].row, i % lanes, bound.q0);
    store_element(out[i / lanes].row + 2, i % lanes, bound.q1);
    if (i % 2 == 0) {
      even = bound;
    } else {
      add(sums, load_weight(weights, i / 2), even, bound);
    }
  }
  return sums;
}

inline NodeSums leaf_bind_round(const LeafIntegers& leaves, const LeafCode& code, DenominatorsBlock* out,
                                const WeightBlock* weights, E challenge, std::size_t count) {
  return bind_denominators(out, weights, count, [&](std::size_t i) {
    const auto q = [&](std::size_t leaf) { return denominator(leaves, code, 4 * i + leaf); };
    return Denominators{on_line(q(0), q(2), challenge), on_line(q(1), q(3), challenge)};
  });
}

inline NodeSums denominators_bind_round(const DenominatorsBlock* in, DenominatorsBlock* out, const WeightBlock* weights,
                                        E challenge, std::size_t count) {
  return bind_denominators(out, weights, count, [&](std::size_t i) {
    const Denominators low = load_denominators(in, 2 * i);
    const Denominators high = load_denominators(in, 2 * i + 1);
    return Denominators{on_line(low.q0, high.q0, challenge), on_line(low.q1, high.q1, challenge)};
  });
}

}  // namespace tessera::scalar
