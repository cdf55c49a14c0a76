#include "lookup/level_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lookup/leaf_kernels-inl.hpp"
#include <hwy/foreach_target.h>

#include "lookup/leaf_kernels-inl.hpp"

namespace tessera {
HWY_EXPORT(combine_children);
HWY_EXPORT(add_tau);
HWY_EXPORT(first_round);
HWY_EXPORT(bind_round);
HWY_EXPORT(denominators_bind_round);
HWY_EXPORT(combine_leaves);
HWY_EXPORT(leaf_first_round);
HWY_EXPORT(leaf_bind_round);
HWY_EXPORT(leaf_bind);
HWY_EXPORT(bind_children);
HWY_EXPORT(denominators_to_nodes);
HWY_EXPORT(put_weights);

void combine_children(const ChildrenBlock* in, ChildrenBlock* out, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(combine_children)(in, out, count);
}

void add_tau(ChildrenBlock* nodes, E tau, std::size_t count) { HWY_DYNAMIC_DISPATCH(add_tau)(nodes, tau, count); }

NodeSums first_round(ChildrenBlock* nodes, const WeightBlock* weights, E tau, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(first_round)(nodes, weights, tau, count);
}

NodeSums bind_round(const ChildrenBlock* in, ChildrenBlock* out, const WeightBlock* weights, E challenge,
                    std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(bind_round)(in, out, weights, challenge, count);
}

NodeSums denominators_bind_round(const DenominatorsBlock* in, DenominatorsBlock* out, const WeightBlock* weights,
                                 E challenge, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(denominators_bind_round)(in, out, weights, challenge, count);
}

void combine_leaves(const LeafIntegers& leaves, const LeafCode& code, ChildrenBlock* out, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(combine_leaves)(leaves, code, out, count);
}

NodeSums leaf_first_round(const LeafIntegers& leaves, const LeafCode& code, const WeightBlock* weights,
                          std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(leaf_first_round)(leaves, code, weights, count);
}

NodeSums leaf_bind_round(const LeafIntegers& leaves, const LeafCode& code, DenominatorsBlock* out,
                         const WeightBlock* weights, E challenge, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(leaf_bind_round)(leaves, code, out, weights, challenge, count);
}

void leaf_bind(const LeafIntegers& leaves, const LeafCode& code, DenominatorsBlock* out, E challenge,
               std::size_t count) {
  HWY_DYNAMIC_DISPATCH(leaf_bind)(leaves, code, out, challenge, count);
}

void bind_children(const ChildrenBlock* in, ChildrenBlock* out, E challenge, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(bind_children)(in, out, challenge, count);
}

void denominators_to_nodes(const DenominatorsBlock* in, ChildrenBlock* out, E challenge, E shift, E tau,
                           std::size_t count) {
  HWY_DYNAMIC_DISPATCH(denominators_to_nodes)(in, out, challenge, shift, tau, count);
}

E put_weights(const ProductWeights& weights, const std::uint64_t* indices, std::size_t present, std::size_t count,
              WeightBlock* out) {
  return HWY_DYNAMIC_DISPATCH(put_weights)(weights, indices, present, count, out);
}

using scalar::lanes;
using scalar::load_element;
using scalar::store_element;

Children load_children(const ChildrenBlock* blocks, std::size_t node) {
  const auto* rows = blocks[node / lanes].row;
  const std::size_t lane = node % lanes;
  return {load_element(rows, lane), load_element(rows + 2, lane), load_element(rows + 4, lane),
          load_element(rows + 6, lane)};
}

void store_children(ChildrenBlock* blocks, std::size_t node, const Children& value) {
  auto* rows = blocks[node / lanes].row;
  const std::size_t lane = node % lanes;
  store_element(rows, lane, value.p0);
  store_element(rows + 2, lane, value.p1);
  store_element(rows + 4, lane, value.q0);
  store_element(rows + 6, lane, value.q1);
}

Denominators load_denominators(const DenominatorsBlock* blocks, std::size_t node) {
  const auto* rows = blocks[node / lanes].row;
  return {load_element(rows, node % lanes), load_element(rows + 2, node % lanes)};
}

void store_weight(WeightBlock* blocks, std::size_t index, E value) {
  auto* rows = blocks[index / lanes].row;
  store_element(rows, index % lanes, value);
  rows[2][index % lanes] = (value.c1 * F::from_canonical(E::non_residue)).value();
}

}  // namespace tessera
