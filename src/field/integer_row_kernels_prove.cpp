#include "field/integer_row_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "field/integer_row_kernels_prove.cpp"
#include <hwy/foreach_target.h>

#include "field/vector_interleaved-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

/// How far ahead memory is asked for what rows need next: less than a page.
constexpr std::size_t words_ahead = 512;

/// Sums of limb * piece, one for each limb.
struct LimbSums {
  V s0, s1, s2, s3;

  HWY_INLINE void clear() { s0 = s1 = s2 = s3 = hn::Zero(Lanes()); }
  HWY_INLINE void accumulate(V pieces, V l0, V l1, V l2, V l3) {
    s0 = add_small_product(s0, pieces, l0);
    s1 = add_small_product(s1, pieces, l1);
    s2 = add_small_product(s2, pieces, l2);
    s3 = add_small_product(s3, pieces, l3);
  }
  HWY_INLINE void load(const std::uint64_t* in) {
    const Lanes d;
    s0 = hn::LoadU(d, in);
    s1 = hn::LoadU(d, in + hn::Lanes(d));
    s2 = hn::LoadU(d, in + 2 * hn::Lanes(d));
    s3 = hn::LoadU(d, in + 3 * hn::Lanes(d));
  }
  HWY_INLINE void store(std::uint64_t* out) const {
    const Lanes d;
    hn::StoreU(s0, d, out);
    hn::StoreU(s1, d, out + hn::Lanes(d));
    hn::StoreU(s2, d, out + 2 * hn::Lanes(d));
    hn::StoreU(s3, d, out + 3 * hn::Lanes(d));
  }
};

/// low + 2^32 * high mod p.
HWY_INLINE V join_limbs(V low, V high) {
  const V shifted = hn::ShiftLeft<32>(high);
  const V sum = hn::Add(low, shifted);
  const V top = hn::ShiftRight<32>(high);
  return reduce(Wide{sum, add_where(hn::Lt(sum, shifted), top, constant(1))});
}

/// Piece `number` of words.
template <std::size_t number>
HWY_INLINE V piece(V words) {
  const V shifted = number == 0 ? words : hn::ShiftRight<16 * static_cast<int>(number)>(words);
  return number == 3 ? shifted : hn::And(shifted, hn::Set(Lanes(), 0xFFFF));
}

/// Sums of two pieces of each word: eight, so that sixteen registers hold them beside what a step needs.
template <bool broadcast, std::size_t number, bool first>
HWY_INLINE void combine_pieces(const std::uint64_t* words64, std::size_t stride, std::size_t groups, V sign,
                               const std::uint64_t* limbs, const std::uint64_t* next, std::uint64_t* out) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  LimbSums p0, p1;
  p0.load(out + 4 * number * lanes);
  p1.load(out + 4 * (number + 1) * lanes);
  for (std::size_t g = 0; g < groups; ++g) {
    if (first) {
      __builtin_prefetch(next + g * lanes);
    }
    const V w = hn::Xor(hn::LoadU(d, words64 + g * stride), sign);
    const V low = piece<number>(w);
    const V high = piece<number + 1>(w);
    const std::uint64_t* l = limbs + g * 4 * (broadcast ? 1 : lanes);
    const auto limb = [&](std::size_t i)
                          HWY_ATTR { return broadcast ? hn::Set(d, l[i]) : hn::LoadU(d, l + i * lanes); };
    const auto add = [&](V& low_sum, V& high_sum, V weight) HWY_ATTR {
      low_sum = add_small_product(low_sum, low, weight);
      high_sum = add_small_product(high_sum, high, weight);
    };
    add(p0.s0, p1.s0, limb(0));
    add(p0.s1, p1.s1, limb(1));
    add(p0.s2, p1.s2, limb(2));
    add(p0.s3, p1.s3, limb(3));
  }
  p0.store(out + 4 * number * lanes);
  p1.store(out + 4 * (number + 1) * lanes);
}

template <bool broadcast>
HWY_INLINE void combine_block(const std::uint64_t* words64, std::size_t stride, std::size_t groups, std::uint64_t flip,
                              const std::uint64_t* limbs, const std::uint64_t* next, std::uint64_t* out) {
  const V sign = hn::Set(Lanes(), flip);
  combine_pieces<broadcast, 0, true>(words64, stride, groups, sign, limbs, next, out);
  combine_pieces<broadcast, 2, false>(words64, stride, groups, sign, limbs, next, out);
}

void combine_rows_broadcast(const std::uint64_t* words64, std::size_t stride, std::size_t groups, std::uint64_t flip,
                            const std::uint64_t* limbs, const std::uint64_t* next, std::uint64_t* out) {
  combine_block<true>(words64, stride, groups, flip, limbs, next, out);
}

void combine_rows_lanes(const std::uint64_t* words64, std::size_t stride, std::size_t groups, std::uint64_t flip,
                        const std::uint64_t* limbs, const std::uint64_t* next, std::uint64_t* out) {
  combine_block<false>(words64, stride, groups, flip, limbs, next, out);
}

/// 2^bits * a mod p, bits below 64 and not 0.
HWY_INLINE V times_power_of_two(V a, int bits) {
  return reduce(Wide{hn::ShiftLeftSame(a, bits), hn::ShiftRightSame(a, 64 - bits)});
}

void join_pieces(const std::uint64_t* sums, std::size_t pieces, std::uint64_t* c0, std::uint64_t* c1) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  const auto joined = [&](std::size_t number, std::size_t coefficient) HWY_ATTR {
    const std::uint64_t* const limbs = sums + (number * 4 + coefficient * 2) * lanes;
    return join_limbs(hn::LoadU(d, limbs), hn::LoadU(d, limbs + lanes));
  };
  for (std::size_t first = 0; first < 4; first += pieces) {
    V low = joined(first, 0);
    V high = joined(first, 1);
    for (std::size_t i = 1; i < pieces; ++i) {
      low = add(low, times_power_of_two(joined(first + i, 0), static_cast<int>(16 * i)));
      high = add(high, times_power_of_two(joined(first + i, 1), static_cast<int>(16 * i)));
    }
    hn::StoreU(low, d, c0 + first / pieces * lanes);
    hn::StoreU(high, d, c1 + first / pieces * lanes);
  }
}

/// A row's sums.
HWY_INLINE LimbSums dot_sums(const std::uint64_t* words64, const RowPieces& pieces, const std::uint64_t* limbs) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  const V sign = hn::Set(d, pieces.flip);
  LimbSums sums;
  sums.clear();
  const auto add_piece = [&](V values, const std::uint64_t* l) HWY_ATTR {
    sums.accumulate(values, hn::LoadU(d, l), hn::LoadU(d, l + lanes), hn::LoadU(d, l + 2 * lanes),
                    hn::LoadU(d, l + 3 * lanes));
  };
  for (std::size_t run = 0; run < pieces.count; ++run, words64 += pieces.stride) {
    for (std::size_t v = 0; v < pieces.vectors; ++v, limbs += 16 * lanes) {
      __builtin_prefetch(words64 + v * lanes + words_ahead);
      const V w = hn::Xor(hn::LoadU(d, words64 + v * lanes), sign);
      add_piece(piece<0>(w), limbs);
      add_piece(piece<1>(w), limbs + 4 * lanes);
      add_piece(piece<2>(w), limbs + 8 * lanes);
      add_piece(piece<3>(w), limbs + 12 * lanes);
    }
  }
  return sums;
}

/// Lane i: the sum over the lanes of the i-th of as many vectors as a vector has lanes, `stride` words apart.
HWY_INLINE V sums_of_vectors(const std::uint64_t* in, [[maybe_unused]] std::size_t stride) {
  const Lanes d;
#if HWY_TARGET == HWY_SCALAR
  return hn::LoadU(d, in);
#else
  // sums of a and b alternate
  const auto two = [&](const std::uint64_t* at) HWY_ATTR {
    const V a = hn::LoadU(d, at);
    const V b = hn::LoadU(d, at + stride);
    return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  };
  if constexpr (hn::MaxLanes(Lanes()) == 2) {
    return two(in);
  } else {
    // halves: those of the first two, those of the last two
    const auto four = [&](const std::uint64_t* at, std::size_t last) HWY_ATTR {
      const V a = two(at);
      const V b = two(at + last * stride);
      return hn::Add(hn::ConcatLowerLower(d, b, a), hn::ConcatUpperUpper(d, b, a));
    };
    if constexpr (hn::MaxLanes(Lanes()) == 4) {
      return four(in, 2);
    } else {
      const V a = four(in, 4);
      const V b = four(in + 2 * stride, 4);
      return hn::OddEvenBlocks(hn::Add(b, hn::SwapAdjacentBlocks(b)), hn::Add(a, hn::SwapAdjacentBlocks(a)));
    }
  }
#endif
}

void dot_rows(const std::uint64_t* words64, RowPieces pieces, const std::uint64_t* limbs, std::uint64_t* c0,
              std::uint64_t* c1) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN std::uint64_t sums[4 * 64];
  for (std::size_t row = 0; row < lanes; ++row) {
    dot_sums(words64 + row * pieces.vectors * lanes, pieces, limbs).store(sums + 4 * lanes * row);
  }
  const auto limb = [&](std::size_t number) HWY_ATTR { return sums_of_vectors(sums + number * lanes, 4 * lanes); };
  hn::StoreU(join_limbs(limb(0), limb(1)), d, c0);
  hn::StoreU(join_limbs(limb(2), limb(3)), d, c1);
}

/// In every lane the sum over its row's lanes, which are side by side.
HWY_INLINE V sums_of_neighbours(V sums, std::size_t lanes_of_row) {
  const Lanes d;
  if (lanes_of_row == hn::Lanes(d)) {
    return hn::SumOfLanes(d, sums);
  }
#if HWY_TARGET != HWY_SCALAR
  if (lanes_of_row >= 2) {
    sums = hn::Add(sums, hn::Reverse2(d, sums));
  }
  if constexpr (hn::MaxLanes(Lanes()) > 4) {
    if (lanes_of_row >= 4) {
      sums = hn::Add(sums, hn::SwapAdjacentBlocks(sums));
    }
  }
#endif
  return sums;
}

void dot_few_rows(const std::uint64_t* words64, RowPieces pieces, std::size_t lanes_of_row, const std::uint64_t* limbs,
                  std::uint64_t* c0, std::uint64_t* c1) {
  const LimbSums sums = dot_sums(words64, pieces, limbs);
  const auto of_rows = [&](V limb) HWY_ATTR { return sums_of_neighbours(limb, lanes_of_row); };
  hn::StoreU(join_limbs(of_rows(sums.s0), of_rows(sums.s1)), Lanes(), c0);
  hn::StoreU(join_limbs(of_rows(sums.s2), of_rows(sums.s3)), Lanes(), c1);
}

std::size_t word_lanes() { return hn::Lanes(Lanes()); }

void add_doubled_row(E weight, const std::uint64_t* doubled, std::size_t count, E* sums) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const V factor = repeat_element(weight.c0, weight.c1);
  for (; i + elements_per_vector() <= count; i += elements_per_vector()) {
    const Products product = multiply_wide(hn::LoadU(Lanes(), doubled + 2 * i), factor);
    store_elements(reduce_and_add(product, load_elements(sums + i)), sums + i);
  }
#endif
  for (; i < count; ++i) {
    sums[i] += weight * F::from_canonical(doubled[2 * i]);
  }
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
HWY_EXPORT(combine_rows_broadcast);
HWY_EXPORT(combine_rows_lanes);
HWY_EXPORT(join_pieces);
HWY_EXPORT(dot_rows);
HWY_EXPORT(dot_few_rows);
HWY_EXPORT(word_lanes);
HWY_EXPORT(add_doubled_row);

std::size_t word_lanes() { return HWY_DYNAMIC_DISPATCH(word_lanes)(); }

void combine_rows_broadcast(const std::uint64_t* words64, std::size_t stride, std::size_t groups, std::uint64_t flip,
                            const std::uint64_t* limbs, const std::uint64_t* next, std::uint64_t* out) {
  HWY_DYNAMIC_DISPATCH(combine_rows_broadcast)(words64, stride, groups, flip, limbs, next, out);
}

void combine_rows_lanes(const std::uint64_t* words64, std::size_t stride, std::size_t groups, std::uint64_t flip,
                        const std::uint64_t* limbs, const std::uint64_t* next, std::uint64_t* out) {
  HWY_DYNAMIC_DISPATCH(combine_rows_lanes)(words64, stride, groups, flip, limbs, next, out);
}

void join_pieces(const std::uint64_t* sums, std::size_t pieces, std::uint64_t* c0, std::uint64_t* c1) {
  HWY_DYNAMIC_DISPATCH(join_pieces)(sums, pieces, c0, c1);
}

void dot_rows(const std::uint64_t* words64, RowPieces pieces, const std::uint64_t* limbs, std::uint64_t* c0,
              std::uint64_t* c1) {
  HWY_DYNAMIC_DISPATCH(dot_rows)(words64, pieces, limbs, c0, c1);
}

void dot_few_rows(const std::uint64_t* words64, RowPieces pieces, std::size_t lanes_of_row, const std::uint64_t* limbs,
                  std::uint64_t* c0, std::uint64_t* c1) {
  HWY_DYNAMIC_DISPATCH(dot_few_rows)(words64, pieces, lanes_of_row, limbs, c0, c1);
}

void add_doubled_row(E weight, const std::uint64_t* doubled, std::size_t count, E* sums) {
  HWY_DYNAMIC_DISPATCH(add_doubled_row)(weight, doubled, count, sums);
}

}  // namespace tessera
#endif  // HWY_ONCE
