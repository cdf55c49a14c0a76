// The kernels of level_kernels.hpp, compiled once for every instruction set.
#if defined(TESSERA_LEVEL_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_LEVEL_KERNELS_INL
#undef TESSERA_LEVEL_KERNELS_INL
#else
#define TESSERA_LEVEL_KERNELS_INL
#endif

#include "field/vector_extension-inl.hpp"
#include "lookup/level_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR

constexpr std::size_t vector_lanes = HWY_MIN(block_lanes, HWY_LANES(std::uint64_t));

struct VChildren {
  VE p0, p1, q0, q1;
};
struct VDenominators {
  VE q0, q1;
};
/// Sums of products, not reduced.
struct VSums {
  WideE at_zero, leading;
};

/// An element at rows r, r+1 of consecutive nodes.
template <class Block>
HWY_INLINE VE load_element(const Block* blocks, std::size_t r, std::size_t node) {
  const auto& rows = blocks[node / block_lanes].row;
  const std::size_t lane = node % block_lanes;
  return {hn::Load(Lanes(), &rows[r][lane]), hn::Load(Lanes(), &rows[r + 1][lane])};
}
template <class Block>
HWY_INLINE void store_element(Block* blocks, std::size_t r, std::size_t node, VE value) {
  auto& rows = blocks[node / block_lanes].row;
  const std::size_t lane = node % block_lanes;
  hn::Store(value.c0, Lanes(), &rows[r][lane]);
  hn::Store(value.c1, Lanes(), &rows[r + 1][lane]);
}
HWY_INLINE VFactor load_weights(const WeightBlock* blocks, std::size_t i) {
  const VE value = load_element(blocks, 0, i);
  return {value.c0, value.c1, hn::Load(Lanes(), &blocks[i / block_lanes].row[2][i % block_lanes])};
}

/// The even and odd ones of two vectors of consecutive nodes.
struct VPair {
  VE low, high;
};
HWY_INLINE VPair separate(VE first, VE second) {
  const Lanes d;
  return {{hn::ConcatEven(d, second.c0, first.c0), hn::ConcatEven(d, second.c1, first.c1)},
          {hn::ConcatOdd(d, second.c0, first.c0), hn::ConcatOdd(d, second.c1, first.c1)}};
}
/// Elements r of pairs `pair`, ...: even and odd nodes apart.
template <class Block>
HWY_INLINE VPair load_pair(const Block* blocks, std::size_t r, std::size_t pair) {
  return separate(load_element(blocks, r, 2 * pair), load_element(blocks, r, 2 * pair + vector_lanes));
}

HWY_INLINE VSums zero_sums() { return {no_products_apart(), no_products_apart()}; }
HWY_INLINE NodeSums finish(const VSums& sums) {
  return {sum_lanes(reduce(sums.at_zero)), sum_lanes(reduce(sums.leading))};
}

/// g = q0*s + p0*q1 (p1 holds s) at the low node and in the differences, weak.
HWY_INLINE VE relation(const VChildren& c) {
  return reduce_weak(add_product(multiply_wide(c.q0, factor(c.p1)), c.p0, factor(c.q1)));
}
HWY_INLINE void add_round(VSums& sums, VFactor weight, const VChildren& low, const VChildren& high) {
  const VChildren difference{subtract(high.p0, low.p0), subtract(high.p1, low.p1), subtract(high.q0, low.q0),
                             subtract(high.q1, low.q1)};
  sums.at_zero = carried(add_product(sums.at_zero, relation(low), weight));
  sums.leading = carried(add_product(sums.leading, relation(difference), weight));
}
HWY_INLINE void add_round(VSums& sums, VFactor weight, const VDenominators& low, const VDenominators& high) {
  const VE value = reduce_weak(multiply_wide(low.q0, factor(low.q1)));
  const VE leading = reduce_weak(multiply_wide(subtract(high.q0, low.q0), factor(subtract(high.q1, low.q1))));
  sums.at_zero = carried(add_product(sums.at_zero, value, weight));
  sums.leading = carried(add_product(sums.leading, leading, weight));
}

/// Asks memory for the block `ahead` blocks behind the one that begins with this node, if one does: its eight streams
/// are more than a processor foresees.
HWY_INLINE void expect_block(const ChildrenBlock* blocks, std::size_t node, std::size_t ahead) {
  if (node % block_lanes == 0) {
    for (const auto& row : blocks[node / block_lanes + ahead].row) {
      __builtin_prefetch(row);
    }
  }
}
constexpr std::size_t blocks_ahead = 3;
constexpr std::size_t blocks_ahead_bound = 8;  // where a round reads four times as many as it has sums

HWY_INLINE void combine_children(const ChildrenBlock* in, ChildrenBlock* out, std::size_t count) {
  for (std::size_t x = 0; x < count; x += vector_lanes) {
    VE p[2];
    VE q[2];
    for (std::size_t half = 0; half < 2; ++half) {
      const std::size_t node = 2 * x + half * vector_lanes;
      expect_block(in, node, blocks_ahead);
      const VFactor q1 = factor(load_element(in, 6, node));
      const VE q0 = load_element(in, 4, node);
      const VE p1 = load_element(in, 2, node);
      p[half] = reduce(add_product(multiply_wide(load_element(in, 0, node), q1), p1, factor(q0)));
      q[half] = multiply(q0, q1);
    }
    const VPair numerators = separate(p[0], p[1]);
    const VPair denominators = separate(q[0], q[1]);
    store_element(out, 0, x, numerators.low);
    store_element(out, 2, x, numerators.high);
    store_element(out, 4, x, denominators.low);
    store_element(out, 6, x, denominators.high);
  }
}

HWY_INLINE void add_tau(ChildrenBlock* nodes, E tau_value, std::size_t count) {
  const VFactor tau = factor(broadcast(tau_value));
  for (std::size_t node = 0; node < count; node += vector_lanes) {
    store_element(nodes, 2, node, add(load_element(nodes, 2, node), multiply(load_element(nodes, 6, node), tau)));
  }
}

HWY_INLINE NodeSums first_round(ChildrenBlock* nodes, const WeightBlock* weights, E tau_value, std::size_t count) {
  const VFactor tau = factor(broadcast(tau_value));
  VSums sums = zero_sums();
  for (std::size_t i = 0; i < count; i += vector_lanes) {
    VE s[2];
    for (std::size_t half = 0; half < 2; ++half) {
      const std::size_t node = 2 * i + half * vector_lanes;
      expect_block(nodes, node, blocks_ahead);
      s[half] = add(load_element(nodes, 2, node), multiply(load_element(nodes, 6, node), tau));
      store_element(nodes, 2, node, s[half]);
    }
    const VPair p0 = load_pair(nodes, 0, i);
    const VPair p1 = separate(s[0], s[1]);
    const VPair q0 = load_pair(nodes, 4, i);
    const VPair q1 = load_pair(nodes, 6, i);
    add_round(sums, load_weights(weights, i), VChildren{p0.low, p1.low, q0.low, q1.low},
              VChildren{p0.high, p1.high, q0.high, q1.high});
  }
  return finish(sums);
}

/// Binds element r of 2*vector_lanes pairs, stores them, gives them separated into pairs of the next round.
template <class Block>
HWY_INLINE VPair bind_element(const Block* in, Block* out, std::size_t r, std::size_t node, VFactor challenge) {
  const VPair first = load_pair(in, r, node);
  const VPair second = load_pair(in, r, node + vector_lanes);
  const VE bound0 = on_line(first.low, first.high, challenge);
  const VE bound1 = on_line(second.low, second.high, challenge);
  store_element(out, r, node, bound0);
  store_element(out, r, node + vector_lanes, bound1);
  return separate(bound0, bound1);
}

/// A quarter of the blocks that come after four vectors of nodes: memory does not take the lines of all at once.
HWY_INLINE void expect_quarter(const ChildrenBlock* in, std::size_t i, std::size_t quarter) {
  if (quarter * vector_lanes % block_lanes == 0) {
    expect_block(in, 2 * i + quarter * vector_lanes, blocks_ahead_bound);
  }
}

HWY_INLINE NodeSums bind_round(const ChildrenBlock* in, ChildrenBlock* out, const WeightBlock* weights,
                               E challenge_value, std::size_t count) {
  const VFactor challenge = factor(broadcast(challenge_value));
  VSums sums = zero_sums();
  for (std::size_t i = 0; i < count; i += 2 * vector_lanes) {
    const VPair p0 = bind_element(in, out, 0, i, challenge);
    expect_quarter(in, i, 0);
    const VPair p1 = bind_element(in, out, 2, i, challenge);
    expect_quarter(in, i, 1);
    const VPair q0 = bind_element(in, out, 4, i, challenge);
    expect_quarter(in, i, 2);
    const VPair q1 = bind_element(in, out, 6, i, challenge);
    expect_quarter(in, i, 3);
    add_round(sums, load_weights(weights, i / 2), VChildren{p0.low, p1.low, q0.low, q1.low},
              VChildren{p0.high, p1.high, q0.high, q1.high});
  }
  return finish(sums);
}

HWY_INLINE void bind_children(const ChildrenBlock* in, ChildrenBlock* out, E challenge_value, std::size_t count) {
  const VFactor challenge = factor(broadcast(challenge_value));
  for (std::size_t i = 0; i < count; i += vector_lanes) {
    for (std::size_t r = 0; r < 8; r += 2) {
      const VPair pair = load_pair(in, r, i);
      store_element(out, r, i, on_line(pair.low, pair.high, challenge));
    }
  }
}

HWY_INLINE NodeSums denominators_bind_round(const DenominatorsBlock* in, DenominatorsBlock* out,
                                            const WeightBlock* weights, E challenge_value, std::size_t count) {
  const VFactor challenge = factor(broadcast(challenge_value));
  VSums sums = zero_sums();
  for (std::size_t i = 0; i < count; i += 2 * vector_lanes) {
    const VPair q0 = bind_element(in, out, 0, i, challenge);
    const VPair q1 = bind_element(in, out, 2, i, challenge);
    add_round(sums, load_weights(weights, i / 2), VDenominators{q0.low, q1.low}, VDenominators{q0.high, q1.high});
  }
  return finish(sums);
}

HWY_INLINE void denominators_to_nodes(const DenominatorsBlock* in, ChildrenBlock* out, E challenge_value, E shift_value,
                                      E tau_value, std::size_t count) {
  const VFactor challenge = factor(broadcast(challenge_value));
  const VFactor tau = factor(broadcast(tau_value));
  const VE shift = broadcast(shift_value);
  const VE one = broadcast(E::one());
  for (std::size_t i = 0; i < count; i += vector_lanes) {
    const auto bound = [&](std::size_t r) HWY_ATTR {
      const VPair pair = load_pair(in, r, i);
      return subtract(on_line(pair.low, pair.high, challenge), shift);
    };
    const VE q1 = bound(2);
    store_element(out, 0, i, one);
    store_element(out, 2, i, add(one, multiply(q1, tau)));
    store_element(out, 4, i, bound(0));
    store_element(out, 6, i, q1);
  }
}

/// Elements table[i], .. of a table of which the halves of elements alternate.
HWY_INLINE VE gather(std::span<const E> table, V index) {
  const Lanes d;
  const hn::RebindToSigned<Lanes> places;
  const auto* const halves = reinterpret_cast<const std::uint64_t*>(table.data());
  const auto first = hn::BitCast(places, hn::ShiftLeft<1>(index));
  return {hn::GatherIndex(d, halves, first), hn::GatherIndex(d, halves + 1, first)};
}

HWY_INLINE E put_weights(const ProductWeights& weights, const std::uint64_t* indices, std::size_t present,
                         std::size_t count, WeightBlock* out) {
  static_assert(sizeof(E) == 2 * sizeof(std::uint64_t));
  const Lanes d;
  const int log_right = static_cast<int>(ceil_log2(weights.right.size()));
  const V mask = hn::Set(d, weights.right.size() - 1);
  VE total{hn::Zero(d), hn::Zero(d)};
  for (std::size_t i = 0; i < count; i += vector_lanes) {
    const V index = hn::LoadU(d, indices + i);
    VE weight = multiply(gather(weights.left, hn::ShiftRightSame(index, log_right)),
                         factor(gather(weights.right, hn::And(index, mask))));
    if (i + vector_lanes > present) {
      const auto there = hn::FirstN(d, present - std::min(present, i));
      weight = {hn::IfThenElseZero(there, weight.c0), hn::IfThenElseZero(there, weight.c1)};
    }
    total = add(total, weight);
    store_element(out, 0, i, weight);
    hn::Store(times_seven(weight.c1), d, &out[i / block_lanes].row[2][i % block_lanes]);
  }
  return sum_lanes(total);
}

#endif
}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
