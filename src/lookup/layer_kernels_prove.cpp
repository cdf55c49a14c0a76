#include "lookup/layer_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lookup/leaf_kernels-inl.hpp"
#include <hwy/foreach_target.h>

#include "lookup/leaf_kernels-inl.hpp"

namespace tessera {
namespace {

constexpr std::size_t lanes = block_lanes;

E load_element(const std::uint64_t (*rows)[lanes], std::size_t lane) {
  return {F::from_canonical(rows[0][lane]), F::from_canonical(rows[1][lane])};
}

void store_element(std::uint64_t (*rows)[lanes], std::size_t lane, E value) {
  rows[0][lane] = value.c0.value();
  rows[1][lane] = value.c1.value();
}

}  // namespace

HWY_EXPORT(combine_children_kernel);
HWY_EXPORT(add_tau_kernel);
HWY_EXPORT(first_round_kernel);
HWY_EXPORT(bind_round_kernel);
HWY_EXPORT(denominators_bind_round_kernel);
HWY_EXPORT(combine_leaves_kernel);
HWY_EXPORT(leaf_first_round_kernel);
HWY_EXPORT(leaf_bind_round_kernel);

void combine_children(const ChildrenBlock* in, ChildrenBlock* out, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(combine_children_kernel)(in, out, count);
}

void add_tau(ChildrenBlock* nodes, E tau, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(add_tau_kernel)(nodes, tau, count);
}

NodeSums first_round(ChildrenBlock* nodes, const WeightBlock* weights, E tau, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(first_round_kernel)(nodes, weights, tau, count);
}

NodeSums bind_round(const ChildrenBlock* in, ChildrenBlock* out, const WeightBlock* weights, E challenge,
                    std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(bind_round_kernel)(in, out, weights, challenge, count);
}

NodeSums denominators_bind_round(const DenominatorsBlock* in, DenominatorsBlock* out, const WeightBlock* weights,
                                 E challenge, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(denominators_bind_round_kernel)(in, out, weights, challenge, count);
}

void combine_leaves(const LeafIntegers& leaves, const LeafCode& code, ChildrenBlock* out, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(combine_leaves_kernel)(leaves, code, out, count);
}

NodeSums leaf_first_round(const LeafIntegers& leaves, const LeafCode& code, const WeightBlock* weights,
                          std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(leaf_first_round_kernel)(leaves, code, weights, count);
}

NodeSums leaf_bind_round(const LeafIntegers& leaves, const LeafCode& code, DenominatorsBlock* out,
                         const WeightBlock* weights, E challenge, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(leaf_bind_round_kernel)(leaves, code, out, weights, challenge, count);
}

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

E dot_unsigned(const E* weights, const std::uint32_t* values, std::size_t count) {
  using u128 = unsigned __int128;
  u128 sum0 = 0;
  u128 sum1 = 0;
  for (std::size_t x = 0; x < count; ++x) {
    sum0 += static_cast<u128>(weights[x].c0.value()) * values[x];
    sum1 += static_cast<u128>(weights[x].c1.value()) * values[x];
  }
  return {F::reduce128(sum0), F::reduce128(sum1)};
}

E dot_signed(const E* weights, const std::int32_t* values, std::size_t count) {
  // values + 2^31 are unsigned; the sum of the weights takes the offset out again
  using u128 = unsigned __int128;
  u128 sum0 = 0;
  u128 sum1 = 0;
  u128 weight0 = 0;
  u128 weight1 = 0;
  for (std::size_t x = 0; x < count; ++x) {
    const std::uint64_t value = static_cast<std::uint32_t>(values[x]) ^ 0x80000000U;
    sum0 += static_cast<u128>(weights[x].c0.value()) * value;
    sum1 += static_cast<u128>(weights[x].c1.value()) * value;
    weight0 += weights[x].c0.value();
    weight1 += weights[x].c1.value();
  }
  const F offset = two_to_the(31);
  return {F::reduce128(sum0) - offset * F::reduce128(weight0), F::reduce128(sum1) - offset * F::reduce128(weight1)};
}

}  // namespace tessera
