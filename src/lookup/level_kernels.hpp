#pragma once

#include <span>

#include "lookup/leaf_integers.hpp"
#include "memory/storage.hpp"
#include "tensor/multilinear.hpp"

namespace tessera {

/// A node of the fraction tree; neutral unless set.
struct Fraction {
  E p;
  E q = E::one();
};

/// The two children of a node.
struct Children {
  E p0;
  E p1;
  E q0 = E::one();
  E q1 = E::one();

  [[nodiscard]] Fraction combine() const { return {p0 * q1 + p1 * q0, q0 * q1}; }
};

/// The denominators of a node's two children.
struct Denominators {
  E q0;
  E q1;
};

inline Children on_line(const Children& low, const Children& high, E at) {
  return {on_line(low.p0, high.p0, at), on_line(low.p1, high.p1, at), on_line(low.q0, high.q0, at),
          on_line(low.q1, high.q1, at)};
}
inline Denominators on_line(const Denominators& low, const Denominators& high, E at) {
  return {on_line(low.q0, high.q0, at), on_line(low.q1, high.q1, at)};
}

/// Nodes side by side in one block: one row a component (p0, p1, q0, q1, each c0 before c1), one column a node.
inline constexpr std::size_t block_lanes = 8;
struct alignas(64) ChildrenBlock {
  std::uint64_t row[8][block_lanes];
};
/// The denominators alone (q0, q1) where all numerators are 1.
struct alignas(64) DenominatorsBlock {
  std::uint64_t row[4][block_lanes];
};
/// Values of eq: c0, c1, 7*c1.
struct alignas(64) WeightBlock {
  std::uint64_t row[3][block_lanes];
};

Children load_children(const ChildrenBlock* blocks, std::size_t node);
void store_children(ChildrenBlock* blocks, std::size_t node, const Children& value);
Denominators load_denominators(const DenominatorsBlock* blocks, std::size_t node);
void store_weight(WeightBlock* blocks, std::size_t index, E value);

/// Some nodes' part of a round polynomial's value at 0 and of its coefficient of X^2.
struct NodeSums {
  E at_zero;
  E leading;

  NodeSums& operator+=(const NodeSums& other) {
    at_zero += other.at_zero;
    leading += other.leading;
    return *this;
  }
};

/// A leaf's denominator is `shift` - a - lambda*b.
struct LeafCode {
  E shift;
  E lambda;
};

// The kernels below work on runs of `count` outputs, a multiple of 8. `out` may be the beginning of `in` (binding in
// place). "Pair" i is nodes 2i and 2i+1 of the input: h(X) is g on the line through them.

/// out[x] = the children 2x, 2x+1 of node x, each the sum of its own children in `in` (2*count nodes).
void combine_children(const ChildrenBlock* in, ChildrenBlock* out, std::size_t count);

/// Replaces p1 by s = p1 + tau*q1.
void add_tau(ChildrenBlock* nodes, E tau, std::size_t count);

/// Replaces p1 by s = p1 + tau*q1 in 2*count nodes; sums weight*h over `count` pairs, g = q0*s + p0*q1.
NodeSums first_round(ChildrenBlock* nodes, const WeightBlock* weights, E tau, std::size_t count);

/// out[i] = pair i of `in` (2*count nodes) bound to `challenge`; sums weight*h over the count/2 pairs of `out`.
/// p1 holds s. count >= 16.
NodeSums bind_round(const ChildrenBlock* in, ChildrenBlock* out, const WeightBlock* weights, E challenge,
                    std::size_t count);

/// out[x] = the fractions of leaves (4x, 4x+1) and (4x+2, 4x+3), numerators 1.
void combine_leaves(const LeafIntegers& leaves, const LeafCode& code, ChildrenBlock* out, std::size_t count);

/// Node x has the leaves 2x, 2x+1: sums weight*h over `count` pairs (4*count leaves), g = q0*q1.
NodeSums leaf_first_round(const LeafIntegers& leaves, const LeafCode& code, const WeightBlock* weights,
                          std::size_t count);

/// out[i] = denominators of pair i of nodes bound to `challenge` (4*count leaves); sums weight*h over the pairs of
/// `out`.
NodeSums leaf_bind_round(const LeafIntegers& leaves, const LeafCode& code, DenominatorsBlock* out,
                         const WeightBlock* weights, E challenge, std::size_t count);

/// out[i] = denominators of pair i of nodes bound to `challenge` (4*count leaves), without sums.
void leaf_bind(const LeafIntegers& leaves, const LeafCode& code, DenominatorsBlock* out, E challenge,
               std::size_t count);

/// out[i] = pair i of `in` (2*count nodes) bound to `challenge`. count >= 16.
void bind_children(const ChildrenBlock* in, ChildrenBlock* out, E challenge, std::size_t count);

/// bind_round() for nodes without numerators: g = q0*q1.
NodeSums denominators_bind_round(const DenominatorsBlock* in, DenominatorsBlock* out, const WeightBlock* weights,
                                 E challenge, std::size_t count);

/// out[i] = a node with numerators of 1 and the denominators of pair i of `in` (2*count nodes) bound to `challenge`,
/// less `shift`; p1 holds s.
void denominators_to_nodes(const DenominatorsBlock* in, ChildrenBlock* out, E challenge, E shift, E tau,
                           std::size_t count);

/// Weights left[i >> log2 |right|] * right[i mod |right|], |right| a power of two.
struct ProductWeights {
  std::span<const E> left, right;
  [[nodiscard]] E operator[](std::size_t i) const {
    return left[i >> ceil_log2(right.size())] * right[i & (right.size() - 1)];
  }
};
/// Weights of i = indices[0], .., indices[present - 1], then zeros up to `count`, a multiple of 8; result: their sum.
/// `indices`: `count` of them, 0 from `present` on.
E put_weights(const ProductWeights& weights, const std::uint64_t* indices, std::size_t present, std::size_t count,
              WeightBlock* out);

}  // namespace tessera
