// Steps of peaks.hpp, compiled once for every instruction set (see Highway's foreach_target.h). A step has operands of
// its own, which count as other ones each time, and goes on with the state of a chain.
#if defined(TESSERA_PEAK_STEPS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_PEAK_STEPS_INL
#undef TESSERA_PEAK_STEPS_INL
#else
#define TESSERA_PEAK_STEPS_INL
#endif

#include <array>

#include "bench/sets/peaks.hpp"
#include "field/vector_extension-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

using Words = hn::ScalableTag<std::uint32_t>;
using W = hn::Vec<Words>;

/// Makes the compiler take a value for another one, without an instruction.
template <class Vector>
HWY_INLINE void renew(Vector& value) {
#if !HWY_ARCH_X86
  asm volatile("" : "+m"(value));
#elif HWY_TARGET == HWY_SCALAR
  asm volatile("" : "+r"(value.raw));
#else
  asm volatile("" : "+v"(value.raw));
#endif
}
HWY_INLINE void renew(F& value) {
  std::uint64_t word = value.value();
  asm volatile("" : "+r"(word));
  value = F::from_canonical(word);
}

constexpr std::uint64_t some_number = 0x9E3779B97F4A7C15;  // below p

#if HWY_TARGET == HWY_SCALAR

// Without vectors kernels use F, whose products are those of 64-bit integers.
using Number = F;
HWY_INLINE Number number(std::uint64_t value) { return F::from_canonical(value); }
HWY_INLINE Number field_product(Number a, Number b) { return a * b; }
HWY_INLINE Number sum_of(Number a, Number b) { return a + b; }
HWY_INLINE Number kept_sum_of(Number a, Number b) { return a + b; }
HWY_INLINE Number seven_times(Number a) { return a * F::from_canonical(7); }
HWY_INLINE Number small_product(Number a, Number small) { return a * small; }
/// An element of E with 7*c1.
struct ExtensionFactor {
  HWY_INLINE ExtensionFactor()
      : c0(number(some_number)), c1(number(some_number + 1)), seven_c1(number(some_number + 2)) {}
  Number c0, c1, seven_c1;
};
/// A sum of products before reduction: 128 bits and what was carried out of them.
struct ProductsOfF {
  unsigned __int128 sum = 0;
  std::uint64_t carries = 0;
};
HWY_INLINE ProductsOfF add_product_of(ProductsOfF sum, F a, F b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a.value()) * b.value();
  sum.sum += product;
  sum.carries += sum.sum < product ? 1 : 0;
  return sum;
}
struct ExtensionSum {
  ProductsOfF c0, c1;
};
HWY_INLINE ExtensionSum no_extension_product() { return {}; }
HWY_INLINE ExtensionSum add_extension_product(ExtensionSum sum, F a0, F a1, const ExtensionFactor& b) {
  return {add_product_of(add_product_of(sum.c0, a0, b.c0), a1, b.seven_c1),
          add_product_of(add_product_of(sum.c1, a0, b.c1), a1, b.c0)};
}
HWY_INLINE void renew(ExtensionSum& sum) {
  for (ProductsOfF* part : {&sum.c0, &sum.c1}) {
    asm volatile(""
                 :
                 : "r"(static_cast<std::uint64_t>(part->sum)), "r"(static_cast<std::uint64_t>(part->sum >> 64)),
                   "r"(part->carries));
  }
}
HWY_INLINE Number reduced(Number low, Number high) {  // 2^128 = -2^32: the carries of a short sum cost a difference
  return F::reduce128(static_cast<unsigned __int128>(high.value()) << 64 | low.value());
}
HWY_INLINE Number weakly_reduced(Number low, Number high) { return reduced(low, high); }

#else

using Number = V;
HWY_INLINE Number number(std::uint64_t value) { return constant(value); }
HWY_INLINE Number field_product(Number a, Number b) { return multiply(a, b); }
HWY_INLINE Number sum_of(Number a, Number b) { return add(a, b); }
HWY_INLINE Number kept_sum_of(Number a, Number b) { return add_to_kept(a, b); }
HWY_INLINE Number seven_times(Number a) { return times_seven(a); }
HWY_INLINE Number small_product(Number a, Number small) { return multiply_small(a, small); }
/// An element of E with 7*c1.
struct ExtensionFactor {
  HWY_INLINE ExtensionFactor()
      : c0(number(some_number)), c1(number(some_number + 1)), seven_c1(number(some_number + 2)) {}
  Number c0, c1, seven_c1;
};
using ExtensionSum = WideE;
HWY_INLINE ExtensionSum no_extension_product() { return no_products_apart(); }
HWY_INLINE ExtensionSum add_extension_product(ExtensionSum sum, V a0, V a1, const ExtensionFactor& b) {
  return add_product(sum, VE{a0, a1}, VFactor{b.c0, b.c1, b.seven_c1});
}
#ifdef TESSERA_IFMA
HWY_INLINE void renew(Products& sum) {
  renew(sum.at_0);
  renew(sum.at_52);
  renew(sum.at_104);
}
HWY_INLINE Products products_of(V low, V high) { return {low, high, high}; }
#else
HWY_INLINE void renew(Products& sum) {
  renew(sum.low);
  renew(sum.high);
}
HWY_INLINE Products products_of(V low, V high) { return {low, high}; }
#endif
HWY_INLINE void renew(ExtensionSum& sum) {
  renew(sum.c0);
  renew(sum.c1);
}
HWY_INLINE Number reduced(Number low, Number high) { return reduce(products_of(low, high)); }
HWY_INLINE Number weakly_reduced(Number low, Number high) { return reduce_weak(products_of(low, high)); }

#endif

/// A step from an element and another one to an element.
template <Number (*step)(Number, Number)>
struct ElementStep {
  using State = Number;
  Number other;
  HWY_INLINE ElementStep() : other(number(some_number)) {}
  HWY_INLINE State begin() const { return number(some_number + 5); }
  HWY_INLINE void operator()(State& x) {
    renew(other);
    x = step(x, other);
  }
  HWY_INLINE void end(State& x) const { renew(x); }
};
HWY_INLINE Number product_step(Number x, Number other) { return field_product(x, other); }
HWY_INLINE Number reduction_step(Number x, Number other) { return reduced(x, other); }
HWY_INLINE Number weak_step(Number x, Number other) { return weakly_reduced(x, other); }
HWY_INLINE Number addition_step(Number x, Number other) { return sum_of(x, other); }
HWY_INLINE Number kept_step(Number x, Number other) { return kept_sum_of(x, other); }
HWY_INLINE Number sevenfold_step(Number x, Number /*other*/) { return seven_times(x); }
HWY_INLINE Number small_step(Number x, Number other) { return small_product(x, other); }
using FieldProduct = ElementStep<product_step>;
using Reduction = ElementStep<reduction_step>;
using WeakReduction = ElementStep<weak_step>;
using Addition = ElementStep<addition_step>;
using KeptAddition = ElementStep<kept_step>;
using Sevenfold = ElementStep<sevenfold_step>;
/// The other factor is short.
struct SmallProduct : ElementStep<small_step> {
  HWY_INLINE SmallProduct() { other = number(123456789); }
};

struct ExtensionProduct {
  using State = ExtensionSum;
  Number a0, a1;
  ExtensionFactor b;
  HWY_INLINE ExtensionProduct() : a0(number(some_number + 3)), a1(number(some_number + 4)) {}
  HWY_INLINE State begin() const { return no_extension_product(); }
  HWY_INLINE void operator()(State& sum) {
    renew(a0);
    renew(a1);
    renew(b.c0);
    renew(b.c1);
    renew(b.seven_c1);
    sum = add_extension_product(sum, a0, a1, b);
  }
  HWY_INLINE void end(State& sum) const { renew(sum); }
};

/// A step on integers of 64 bits.
template <V (*step)(V, V)>
struct IntegerStep {
  using State = V;
  V other;
  HWY_INLINE IntegerStep() : other(constant(40503)) {}
  HWY_INLINE State begin() const { return constant(some_number); }
  HWY_INLINE void operator()(State& x) {
    renew(other);
    x = step(x, other);
  }
  HWY_INLINE void end(State& x) const { renew(x); }
};
HWY_INLINE V integer_sum_step(V x, V other) { return add_small_product(x, other, other); }
HWY_INLINE V shift_step(V x, V /*other*/) {
  renew(x);
  return hn::ShiftRight<1>(x);
}
HWY_INLINE V plain_addition_step(V x, V other) { return hn::Add(x, other); }
HWY_INLINE V multiplication_step(V x, V other) {
#if HWY_TARGET == HWY_SCALAR  // both halves of the product
  const unsigned __int128 product = static_cast<unsigned __int128>(hn::GetLane(x)) * hn::GetLane(other);
  V high = constant(static_cast<std::uint64_t>(product >> 64));
  renew(high);
  return constant(static_cast<std::uint64_t>(product));
#elif defined(TESSERA_IFMA)
  return add_low_52(x, other, other);
#else
  return multiply_low_halves(x, other);
#endif
}
using IntegerSum = IntegerStep<integer_sum_step>;
using Shift = IntegerStep<shift_step>;
using PlainAddition = IntegerStep<plain_addition_step>;
using Multiplication = IntegerStep<multiplication_step>;

struct PairSum {
  using State = S;
  S a, b;
  HWY_INLINE PairSum() : a(hn::Set(Sums(), 0x12345678)), b(hn::Set(Sums(), 0x00010002)) {}
  HWY_INLINE State begin() const { return hn::Zero(Sums()); }
  HWY_INLINE void operator()(State& sum) {
    renew(a);
    sum = add_products_of_pairs(sum, a, b);
  }
  HWY_INLINE void end(State& sum) const { renew(sum); }
};

/// Rotations of whole bytes are one instruction where bytes can be shuffled.
template <int bits>
HWY_INLINE W rotated(W a) {
#if HWY_TARGET == HWY_AVX2
  if constexpr (bits % 8 == 0) {
    HWY_ALIGN static constexpr std::uint8_t by_16[16] = {2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13};
    HWY_ALIGN static constexpr std::uint8_t by_8[16] = {1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12};
    const hn::Repartition<std::uint8_t, Words> bytes;
    return hn::BitCast(Words(),
                       hn::TableLookupBytes(hn::BitCast(bytes, a), hn::LoadDup128(bytes, bits == 16 ? by_16 : by_8)));
  }
#endif
  return hn::RotateRight<bits>(a);
}

/// Four words of BLAKE2s and two of the message.
struct Mix {
  struct State {
    W a, b, c, d;
  };
  W x, y;
  HWY_INLINE Mix() : x(hn::Set(Words(), 123)), y(hn::Set(Words(), 456)) {}
  HWY_INLINE State begin() const {
    W word = hn::Set(Words(), 789);
    renew(word);
    return {word, word, word, word};
  }
  HWY_INLINE void operator()(State& v) {
    renew(x);
    v.a = hn::Add(hn::Add(v.a, v.b), x);
    v.d = rotated<16>(hn::Xor(v.d, v.a));
    v.c = hn::Add(v.c, v.d);
    v.b = rotated<12>(hn::Xor(v.b, v.c));
    v.a = hn::Add(hn::Add(v.a, v.b), y);
    v.d = rotated<8>(hn::Xor(v.d, v.a));
    v.c = hn::Add(v.c, v.d);
    v.b = rotated<7>(hn::Xor(v.b, v.c));
  }
  HWY_INLINE void end(State& v) const {
    renew(v.a);
    renew(v.b);
    renew(v.c);
    renew(v.d);
  }
};

/// Multiplications, shifts and all instructions of goldilocks-inl.hpp (without vectors: goldilocks.hpp) but moves: a
/// call of Highway's for one where this set has it. Of a product in E the operands' upper halves are shared.
constexpr std::array<bench::InstructionCounts, 5> instruction_counts{{
#if HWY_TARGET == HWY_SCALAR
    {1, 2, 14},  // product: both halves at once; its reduction with masks for a borrow, a carry and a last difference
    {4, 0, 18},  // product in E: each is added in two halves, each second one has a carry
    {0, 2, 13},  // reduction
    {0, 2, 13},  // there is no weak one
    {0, 0, 5},   // addition: two differences, a mask and what it keeps
#elif defined(TESSERA_IFMA)
    {7, 7, 28},   // product: 7 of 52 bits, 2 shifts; reduction
    {28, 5, 33},  // product in E: 4 of 7
    {0, 5, 19},   // reduction: of three parts
    {0, 5, 17},   // without the last difference and minimum
    {0, 0, 4},    // addition: two differences, a comparison, a masked sum
#elif HWY_TARGET == HWY_AVX2
    {5, 9, 31},    // product: 4 of 32 bits, 6 shifts, 6 others; a sign, reduction with one more product
    {16, 25, 89},  // product in E: 4 of 21 that share 5 shifts
    {1, 3, 15},    // reduction: sums and differences of four instructions, a last comparison
    {1, 3, 12},    // without the last one
    {0, 0, 7},     // addition: an unsigned comparison is three instructions
#else
    {4, 8, 28},    // product: 4 of 32 bits, 6 shifts, 6 others; reduction
    {16, 21, 85},  // product in E: 4 of 20 that share 5 shifts
    {0, 2, 12},    // reduction: masked sums and differences of three instructions
    {0, 2, 10},    // without the last difference and minimum
    {0, 0, 4},     // addition: two differences, a comparison, a masked sum
#endif
}};

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
