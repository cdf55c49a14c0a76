// The leaf kernels of level_kernels.hpp, compiled once for every instruction set.
#if defined(TESSERA_LEAF_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_LEAF_KERNELS_INL
#undef TESSERA_LEAF_KERNELS_INL
#else
#define TESSERA_LEAF_KERNELS_INL
#endif

#include "lookup/level_kernels-inl.hpp"
#include "lookup/scalar_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR

/// The integers of leaves 4x .. 4x+3 for consecutive x.
struct VIntegers {
  V leaf[4];
};

template <class T>
using Integers = hn::Repartition<T, Lanes>;
/// An integer in all places of a type.
template <class T>
V repeated(std::uint32_t integer) {
  return hn::BitCast(Lanes(), hn::Set(Integers<T>(), static_cast<T>(integer)));
}
/// Integers as they lie, each with what `added` has in its place.
template <class T>
HWY_INLINE V load_added(const T* first, V added) {
  const Integers<T> d;
  return hn::BitCast(Lanes(), hn::Add(hn::LoadU(d, first), hn::BitCast(d, added)));
}
HWY_INLINE VIntegers load_integers(const std::uint32_t* first, V added) {
  const Lanes d;
  const V words0 = load_added(first, added);
  const V words1 = load_added(first + 2 * vector_lanes, added);
  const V even = hn::ConcatEven(d, words1, words0);
  const V odd = hn::ConcatOdd(d, words1, words0);
  return {{hn::And(even, epsilon()), hn::ShiftRight<32>(even), hn::And(odd, epsilon()), hn::ShiftRight<32>(odd)}};
}
HWY_INLINE VIntegers load_integers(const std::uint16_t* first, V added) {
  const V words = load_added(first, added);
  const V mask = constant(0xFFFF);
  return {{hn::And(words, mask), hn::And(hn::ShiftRight<16>(words), mask), hn::And(hn::ShiftRight<32>(words), mask),
           hn::ShiftRight<48>(words)}};
}
/// b + 2^31 >= 0 of leaves 4x .. 4x+3 for consecutive x.
HWY_INLINE VIntegers load_signed(const std::int32_t* first) {
  // types of one width may alias
  return load_integers(reinterpret_cast<const std::uint32_t*>(first), repeated<std::uint32_t>(1U << 31));
}
HWY_INLINE VIntegers load_signed(const std::int16_t* first) {
  VIntegers b = load_integers(reinterpret_cast<const std::uint16_t*>(first), repeated<std::uint16_t>(1U << 15));
  for (V& leaf : b.leaf) {
    leaf = hn::Add(leaf, constant((1ULL << 31) - (1ULL << 15)));
  }
  return b;
}
template <class T>
const T* integers_of(const LeafIntegers& leaves) {
  if constexpr (sizeof(T) == 2) {
    return leaves.narrow;
  } else {
    return leaves.wide;
  }
}
template <class T>
const T* values_of(const LeafIntegers& leaves) {
  if constexpr (sizeof(T) == 2) {
    return leaves.narrow_b;
  } else {
    return leaves.wide_b;
  }
}

/// Leaves of a range table, a < 2^31. Products of two denominators in integers:
/// (shift - a)*(shift - a') = shift^2 - shift*(a + a') + a*a'.
template <class T>
class RangeLeaves {
 public:
  RangeLeaves(const LeafIntegers& leaves, const LeafCode& code)
      : a_(integers_of<T>(leaves)), added_(repeated<T>(leaves.added)), shift_(broadcast(code.shift)) {
    square_ = broadcast(code.shift * code.shift);
    twice_ = broadcast(code.shift + code.shift);
  }

  /// The fractions (p; q) of leaves 4x+half*2 and the next.
  HWY_INLINE void combine(std::size_t x, VE p[2], VE q[2]) const {
    const VIntegers a = load_integers(a_ + 4 * x, added_);
    for (std::size_t half = 0; half < 2; ++half) {
      const V sum = hn::Add(a.leaf[2 * half], a.leaf[2 * half + 1]);
      p[half] = {subtract(twice_.c0, sum), twice_.c1};
      q[half] = product(a.leaf[2 * half], a.leaf[2 * half + 1], sum);
    }
  }
  HWY_INLINE void add_first_round(VSums& sums, VFactor weight, std::size_t i) const {
    const VIntegers a = load_integers(a_ + 4 * i, added_);
    const VE value = product(a.leaf[0], a.leaf[1], hn::Add(a.leaf[0], a.leaf[1]));
    // both differences are integers below 2^31
    const hn::Repartition<std::int32_t, Lanes> halves;
    const V leading = hn::BitCast(Lanes(), hn::MulEven(hn::BitCast(halves, hn::Sub(a.leaf[2], a.leaf[0])),
                                                       hn::BitCast(halves, hn::Sub(a.leaf[3], a.leaf[1]))));
    const V negative = hn::IfThenElseZero(hn::Gt(leading, constant(1ULL << 63)), epsilon());
    const V reduced = hn::Sub(leading, negative);
    sums.at_zero = carried(add_product(sums.at_zero, value, weight));
    sums.leading = carried(WideE{add_product(sums.leading.c0, weight.c0, reduced),  //
                                 add_product(sums.leading.c1, weight.c1, reduced)});
  }
  /// Prepares bind(): q on the line is shift' - a_low - challenge*(a_high - a_low + 2^31).
  void set_challenge(E challenge) {
    challenge_ = broadcast(challenge);
    const E offset = challenge * two_to_the(31);
    bound_shift_ = add(shift_, broadcast(offset));
  }
  HWY_INLINE VDenominators bind(std::size_t i) const {
    const VIntegers a = load_integers(a_ + 4 * i, added_);
    return {bound(a.leaf[0], a.leaf[2]), bound(a.leaf[1], a.leaf[3])};
  }

 private:
  HWY_INLINE VE product(V a0, V a1, V sum) const {
    const V real = subtract(square_.c0, multiply_small(shift_.c0, sum));
    return {add(real, multiply_low_halves(a0, a1)), subtract(square_.c1, multiply_small(shift_.c1, sum))};
  }
  HWY_INLINE VE bound(V low, V high) const {
    const V difference = hn::Add(hn::Sub(high, low), constant(1ULL << 31));
    return {subtract(subtract(bound_shift_.c0, low), multiply_small(challenge_.c0, difference)),
            subtract(bound_shift_.c1, multiply_small(challenge_.c1, difference))};
  }

  const T* a_;
  V added_;
  VE shift_;
  VE challenge_;
  VE bound_shift_;
  VE square_;
  VE twice_;
};

/// Leaves of a table with values: shift - a - lambda*b, computed with b + 2^31 >= 0.
template <class T, class B>
class PairLeaves {
 public:
  PairLeaves(const LeafIntegers& leaves, const LeafCode& code)
      : a_(integers_of<T>(leaves)),
        added_(repeated<T>(leaves.added)),
        b_(values_of<B>(leaves)),
        shift_(broadcast(code.shift + code.lambda * two_to_the(31))),
        lambda_(broadcast(code.lambda)) {}

  HWY_INLINE void combine(std::size_t x, VE p[2], VE q[2]) const {
    VE leaf[4];
    load(x, leaf);
    for (std::size_t half = 0; half < 2; ++half) {
      p[half] = add(leaf[2 * half], leaf[2 * half + 1]);
      q[half] = multiply(leaf[2 * half], factor(leaf[2 * half + 1]));
    }
  }
  HWY_INLINE void add_first_round(VSums& sums, VFactor weight, std::size_t i) const {
    VE leaf[4];
    load(i, leaf);
    add_round(sums, weight, VDenominators{leaf[0], leaf[1]}, VDenominators{leaf[2], leaf[3]});
  }
  void set_challenge(E challenge) { challenge_ = factor(broadcast(challenge)); }
  HWY_INLINE VDenominators bind(std::size_t i) const {
    VE leaf[4];
    load(i, leaf);
    return {on_line(leaf[0], leaf[2], challenge_), on_line(leaf[1], leaf[3], challenge_)};
  }

 private:
  HWY_INLINE void load(std::size_t x, VE leaf[4]) const {
    const VIntegers a = load_integers(a_ + 4 * x, added_);
    const VIntegers b = load_signed(b_ + 4 * x);
    for (std::size_t i = 0; i < 4; ++i) {
      leaf[i] = subtract({subtract(shift_.c0, a.leaf[i]), shift_.c1}, multiply_small(lambda_, b.leaf[i]));
    }
  }

  const T* a_;
  V added_;
  const B* b_;
  VE shift_;
  VE lambda_;
  VFactor challenge_;
};

template <class Leaves>
HWY_INLINE void combine_leaves_of(const Leaves& leaves, ChildrenBlock* out, std::size_t count) {
  for (std::size_t x = 0; x < count; x += vector_lanes) {
    VE p[2];
    VE q[2];
    leaves.combine(x, p, q);
    store_element(out, 0, x, p[0]);
    store_element(out, 2, x, p[1]);
    store_element(out, 4, x, q[0]);
    store_element(out, 6, x, q[1]);
  }
}

template <class Leaves>
HWY_INLINE NodeSums first_round_of(const Leaves& leaves, const WeightBlock* weights, std::size_t count) {
  VSums sums = zero_sums();
  for (std::size_t i = 0; i < count; i += vector_lanes) {
    leaves.add_first_round(sums, load_weights(weights, i), i);
  }
  return finish(sums);
}

template <class Leaves>
HWY_INLINE NodeSums bind_round_of(const Leaves& leaves, DenominatorsBlock* out, const WeightBlock* weights,
                                  std::size_t count) {
  VSums sums = zero_sums();
  for (std::size_t i = 0; i < count; i += 2 * vector_lanes) {
    const VDenominators first = leaves.bind(i);
    const VDenominators second = leaves.bind(i + vector_lanes);
    store_element(out, 0, i, first.q0);
    store_element(out, 2, i, first.q1);
    store_element(out, 0, i + vector_lanes, second.q0);
    store_element(out, 2, i + vector_lanes, second.q1);
    const VPair q0 = separate(first.q0, second.q0);
    const VPair q1 = separate(first.q1, second.q1);
    add_round(sums, load_weights(weights, i / 2), VDenominators{q0.low, q1.low}, VDenominators{q0.high, q1.high});
  }
  return finish(sums);
}

template <class Leaves>
HWY_INLINE void bind_of(const Leaves& leaves, DenominatorsBlock* out, std::size_t count) {
  for (std::size_t i = 0; i < count; i += vector_lanes) {
    const VDenominators bound = leaves.bind(i);
    store_element(out, 0, i, bound.q0);
    store_element(out, 2, i, bound.q1);
  }
}

/// work(leaves) with the kind of leaves that these are.
template <class Work>
HWY_INLINE auto with_leaves(const LeafIntegers& leaves, const LeafCode& code, const Work& work) {
  if (!leaves.has_b()) {
    return leaves.narrow != nullptr ? work(RangeLeaves<std::uint16_t>(leaves, code))
                                    : work(RangeLeaves<std::uint32_t>(leaves, code));
  }
  if (leaves.narrow_b != nullptr) {
    return leaves.narrow != nullptr ? work(PairLeaves<std::uint16_t, std::int16_t>(leaves, code))
                                    : work(PairLeaves<std::uint32_t, std::int16_t>(leaves, code));
  }
  return leaves.narrow != nullptr ? work(PairLeaves<std::uint16_t, std::int32_t>(leaves, code))
                                  : work(PairLeaves<std::uint32_t, std::int32_t>(leaves, code));
}

HWY_INLINE void combine_leaves(const LeafIntegers& leaves, const LeafCode& code, ChildrenBlock* out,
                               std::size_t count) {
  with_leaves(leaves, code, [&](const auto& kind) { combine_leaves_of(kind, out, count); });
}
HWY_INLINE NodeSums leaf_first_round(const LeafIntegers& leaves, const LeafCode& code, const WeightBlock* weights,
                                     std::size_t count) {
  return with_leaves(leaves, code, [&](const auto& kind) { return first_round_of(kind, weights, count); });
}
HWY_INLINE NodeSums leaf_bind_round(const LeafIntegers& leaves, const LeafCode& code, DenominatorsBlock* out,
                                    const WeightBlock* weights, E challenge, std::size_t count) {
  return with_leaves(leaves, code, [&](auto kind) {
    kind.set_challenge(challenge);
    return bind_round_of(kind, out, weights, count);
  });
}
HWY_INLINE void leaf_bind(const LeafIntegers& leaves, const LeafCode& code, DenominatorsBlock* out, E challenge,
                          std::size_t count) {
  with_leaves(leaves, code, [&](auto kind) {
    kind.set_challenge(challenge);
    bind_of(kind, out, count);
  });
}

#else  // no vectors

using scalar::add_tau;
using scalar::bind_children;
using scalar::bind_round;
using scalar::combine_children;
using scalar::combine_leaves;
using scalar::denominators_bind_round;
using scalar::denominators_to_nodes;
using scalar::first_round;
using scalar::leaf_bind;
using scalar::leaf_bind_round;
using scalar::leaf_first_round;
using scalar::put_weights;

#endif
}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
