#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include "field/integer_products.hpp"
#include <type_traits>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "field/integer_products_prove.cpp"
#include <hwy/foreach_target.h>

#include "field/vector_interleaved-inl.hpp"

// Integers of any width are read as unsigned 16-bit pieces (little endian), four to a 64-bit lane; elements of E as
// four 32-bit limbs. Products of a piece and a limb stay below 2^48, so 2^15 of them fit a lane without reduction.

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

/// How far ahead memory is asked for what a row of a few vectors needs next: less than a page.
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

/// The u64 words of `groups` rows of one vector each, `stride` words apart: adds sums over the rows of limb * piece.
/// limbs: four words (the same for all lanes) a row if `broadcast`, else four vectors. out: [piece 0..3][limb][lane].
/// What stands `groups` rows further on comes from memory meanwhile.
template <bool broadcast>
HWY_INLINE void combine_block(const std::uint64_t* words64, std::size_t stride, std::size_t groups, std::uint64_t flip,
                              const std::uint64_t* limbs, std::uint64_t* out) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  const V sign = hn::Set(d, flip);
  const V mask = hn::Set(d, 0xFFFF);
  LimbSums p0, p1, p2, p3;
  p0.load(out);
  p1.load(out + 4 * lanes);
  p2.load(out + 8 * lanes);
  p3.load(out + 12 * lanes);
  for (std::size_t g = 0; g < groups; ++g) {
    __builtin_prefetch(words64 + (g + groups) * stride);
    const V w = hn::Xor(hn::LoadU(d, words64 + g * stride), sign);
    const std::uint64_t* l = limbs + g * 4 * (broadcast ? 1 : lanes);
    const V l0 = broadcast ? hn::Set(d, l[0]) : hn::LoadU(d, l);
    const V l1 = broadcast ? hn::Set(d, l[1]) : hn::LoadU(d, l + lanes);
    const V l2 = broadcast ? hn::Set(d, l[2]) : hn::LoadU(d, l + 2 * lanes);
    const V l3 = broadcast ? hn::Set(d, l[3]) : hn::LoadU(d, l + 3 * lanes);
    p0.accumulate(hn::And(w, mask), l0, l1, l2, l3);
    p1.accumulate(hn::And(hn::ShiftRight<16>(w), mask), l0, l1, l2, l3);
    p2.accumulate(hn::And(hn::ShiftRight<32>(w), mask), l0, l1, l2, l3);
    p3.accumulate(hn::ShiftRight<48>(w), l0, l1, l2, l3);
  }
  p0.store(out);
  p1.store(out + 4 * lanes);
  p2.store(out + 8 * lanes);
  p3.store(out + 12 * lanes);
}

void combine_rows_broadcast(const std::uint64_t* words64, std::size_t stride, std::size_t groups, std::uint64_t flip,
                            const std::uint64_t* limbs, std::uint64_t* out) {
  combine_block<true>(words64, stride, groups, flip, limbs, out);
}

void combine_rows_lanes(const std::uint64_t* words64, std::size_t stride, std::size_t groups, std::uint64_t flip,
                        const std::uint64_t* limbs, std::uint64_t* out) {
  combine_block<false>(words64, stride, groups, flip, limbs, out);
}

/// Sums over `vectors` consecutive vectors of words: limbs [vector][piece][limb][lane].
HWY_INLINE LimbSums dot_sums(const std::uint64_t* words64, std::size_t vectors, std::uint64_t flip,
                             const std::uint64_t* limbs) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  const V sign = hn::Set(d, flip);
  const V mask = hn::Set(d, 0xFFFF);
  LimbSums sums;
  sums.clear();
  const auto add_piece = [&](V pieces, const std::uint64_t* l) HWY_ATTR {
    sums.accumulate(pieces, hn::LoadU(d, l), hn::LoadU(d, l + lanes), hn::LoadU(d, l + 2 * lanes),
                    hn::LoadU(d, l + 3 * lanes));
  };
  for (std::size_t v = 0; v < vectors; ++v) {
    const V w = hn::Xor(hn::LoadU(d, words64 + v * lanes), sign);
    const std::uint64_t* l = limbs + v * 16 * lanes;
    add_piece(hn::And(w, mask), l);
    add_piece(hn::And(hn::ShiftRight<16>(w), mask), l + 4 * lanes);
    add_piece(hn::And(hn::ShiftRight<32>(w), mask), l + 8 * lanes);
    add_piece(hn::ShiftRight<48>(w), l + 12 * lanes);
  }
  return sums;
}

/// out: [limb][lane].
void dot_row(const std::uint64_t* words64, std::size_t vectors, std::uint64_t flip, const std::uint64_t* limbs,
             std::uint64_t* out) {
  dot_sums(words64, vectors, flip, limbs).store(out);
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

/// low + 2^32 * high mod p.
HWY_INLINE V join_limbs(V low, V high) {
  const V shifted = hn::ShiftLeft<32>(high);
  const V sum = hn::Add(low, shifted);
  const V top = hn::ShiftRight<32>(high);
  return reduce(Wide{sum, add_where(hn::Lt(sum, shifted), top, constant(1))});
}

/// The products of as many rows as a vector has lanes, `vectors` vectors of words each: the coefficients of row i's at
/// c0[i] and c1[i]. Of at most 2^15 pieces a row.
void dot_rows(const std::uint64_t* words64, std::size_t vectors, std::uint64_t flip, const std::uint64_t* limbs,
              std::uint64_t* c0, std::uint64_t* c1) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN std::uint64_t sums[4 * 64];
  for (std::size_t row = 0; row < lanes; ++row) {
    for (std::size_t v = 0; v < vectors; ++v) {
      __builtin_prefetch(words64 + (row * vectors + v) * lanes + words_ahead);
    }
    dot_sums(words64 + row * vectors * lanes, vectors, flip, limbs).store(sums + 4 * lanes * row);
  }
  const auto limb = [&](std::size_t number) HWY_ATTR { return sums_of_vectors(sums + number * lanes, 4 * lanes); };
  hn::StoreU(join_limbs(limb(0), limb(1)), d, c0);
  hn::StoreU(join_limbs(limb(2), limb(3)), d, c1);
}

std::size_t word_lanes() { return hn::Lanes(Lanes()); }

/// sums[i] += weight * value i; every canonical value is there twice.
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
HWY_EXPORT(dot_row);
HWY_EXPORT(dot_rows);
HWY_EXPORT(word_lanes);
HWY_EXPORT(add_doubled_row);

namespace {

static_assert(std::endian::native == std::endian::little, "pieces of an integer are read as stored");

constexpr std::size_t max_lanes = 64;
constexpr std::size_t max_rows = std::size_t{1} << 15;  // a lane holds 2^15 products below 2^48
/// Rows are read some at a time where they are longer than a vector: as many as stay in the nearest cache.
constexpr std::size_t block_words = std::size_t{1} << 10;
constexpr std::size_t least_block = 8;

/// How the integers of a type fall into 16-bit pieces.
template <class T>
struct Pieces {
  static constexpr std::size_t per_value = sizeof(T) / 2;
  static constexpr std::size_t per_word = 4;
  /// Flips the sign bits in a word: a signed value plus 2^(bits-1) is unsigned.
  static constexpr std::uint64_t flip = !std::is_signed_v<T> ? 0
                                        : sizeof(T) == 2     ? 0x8000800080008000ULL
                                        : sizeof(T) == 4     ? 0x8000000080000000ULL
                                                             : 0x8000000000000000ULL;
  /// What the flip added.
  static F offset() { return std::is_signed_v<T> ? two_to_the(8 * sizeof(T) - 1) : F::zero(); }
};

template <class T>
F to_field(T value) {
  return F::from_signed(static_cast<std::int64_t>(value));
}

const std::uint64_t* as_words(const void* values) { return static_cast<const std::uint64_t*>(values); }

/// Four limbs of an element, `stride` words apart.
void split(const E& value, std::uint64_t* limbs, std::size_t stride) {
  limbs[0] = value.c0.value() & 0xFFFFFFFF;
  limbs[stride] = value.c0.value() >> 32;
  limbs[2 * stride] = value.c1.value() & 0xFFFFFFFF;
  limbs[3 * stride] = value.c1.value() >> 32;
}

E join(const std::uint64_t* limbs, std::size_t stride) {
  const auto component = [](std::uint64_t low, std::uint64_t high) {
    return F::reduce128((static_cast<unsigned __int128>(high) << 32) + low);
  };
  return {component(limbs[0], limbs[stride]), component(limbs[2 * stride], limbs[3 * stride])};
}

E total(std::span<const E> values) {
  E sum;
  for (const E& value : values) {
    sum += value;
  }
  return sum;
}

template <class T>
void combine_scalar(std::span<const E> weights, std::span<const T> matrix, std::span<E> sums) {
  for (std::size_t r = 0; r < weights.size(); ++r) {
    for (std::size_t c = 0; c < sums.size(); ++c) {
      sums[c] += weights[r] * to_field(matrix[r * sums.size() + c]);
    }
  }
}

/// As many rows as are combined value by value: what combine_vectors() takes for a word of the result is as much.
template <class T>
constexpr std::size_t few_rows = 3 * sizeof(T) / 2;

template <class T>
void combine_few(std::span<const E> weights, std::span<const T> matrix, std::span<E> sums) {
  constexpr std::size_t at_once = 128;
  std::array<std::uint64_t, 2 * at_once> doubled;
  for (std::size_t r = 0; r < weights.size(); ++r) {
    const T* const row = matrix.data() + r * sums.size();
    for (std::size_t first = 0; first < sums.size(); first += at_once) {
      const std::size_t count = std::min(at_once, sums.size() - first);
      for (std::size_t i = 0; i < count; ++i) {
        doubled[2 * i] = doubled[2 * i + 1] = to_field(row[first + i]).value();
      }
      HWY_DYNAMIC_DISPATCH(add_doubled_row)(weights[r], doubled.data(), count, sums.data() + first);
    }
  }
}

/// At most max_rows rows, width and rows such that whole vectors of words are read.
template <class T>
void combine_vectors(std::span<const E> weights, std::span<const T> matrix, std::span<E> sums) {
  const std::size_t lanes = HWY_DYNAMIC_DISPATCH(word_lanes)();
  const std::size_t row_words = sums.size() * sizeof(T) / sizeof(std::uint64_t);
  const std::size_t rows_together = row_words < lanes ? lanes / row_words : 1;
  const std::size_t groups = weights.size() / rows_together;
  const bool broadcast = rows_together == 1;
  thread_local std::vector<std::uint64_t> limbs;
  limbs.resize(groups * 4 * (broadcast ? 1 : lanes));
  for (std::size_t r = 0; r < weights.size(); ++r) {
    if (broadcast) {
      split(weights[r], limbs.data() + 4 * r, 1);
      continue;
    }
    std::uint64_t* group = limbs.data() + r / rows_together * 4 * lanes;
    for (std::size_t lane = 0; lane < row_words; ++lane) {
      split(weights[r], group + r % rows_together * row_words + lane, lanes);
    }
  }
  const auto combine =
      broadcast ? HWY_DYNAMIC_DISPATCH(combine_rows_broadcast) : HWY_DYNAMIC_DISPATCH(combine_rows_lanes);
  const E offset = total(weights) * Pieces<T>::offset();
  for (E& sum : sums) {
    sum -= offset;
  }
  const std::size_t stride = broadcast ? row_words : lanes;
  const std::size_t vectors = std::max(row_words, lanes) / lanes;
  const std::size_t together = std::max(least_block, block_words / stride);
  thread_local std::vector<std::uint64_t> out;
  out.assign(vectors * 16 * lanes, 0);
  for (std::size_t group = 0; group < groups; group += together) {
    for (std::size_t v = 0; v < vectors; ++v) {
      combine(as_words(matrix.data()) + group * stride + v * lanes, stride, std::min(together, groups - group),
              Pieces<T>::flip, limbs.data() + group * 4 * (broadcast ? 1 : lanes), out.data() + v * 16 * lanes);
    }
  }
  for (std::size_t word = 0; word < vectors * lanes; ++word) {
    for (std::size_t piece = 0; piece < 4; ++piece) {
      const std::size_t index = word % row_words * 4 + piece;
      sums[index / Pieces<T>::per_value] +=
          join(out.data() + word / lanes * 16 * lanes + piece * 4 * lanes + word % lanes, lanes) *
          two_to_the(static_cast<unsigned>(16 * (index % Pieces<T>::per_value)));
    }
  }
}

}  // namespace

template <class T>
void combine_integer_rows(std::span<const E> weights, std::span<const T> matrix, std::span<E> sums) {
  assert(matrix.size() == weights.size() * sums.size());
  if (weights.size() <= few_rows<T>) {
    return combine_few(weights, matrix, sums);
  }
  const std::size_t lanes = HWY_DYNAMIC_DISPATCH(word_lanes)();
  const std::size_t width = sums.size();
  const std::size_t row_words = width * sizeof(T) / sizeof(std::uint64_t);
  // widths are powers of two; too narrow or few rows for whole vectors: plainly
  const bool vectors = row_words > 0 && weights.size() % std::max<std::size_t>(1, lanes / row_words) == 0;
  for (std::size_t first = 0; first < weights.size(); first += max_rows) {
    const std::size_t count = std::min(max_rows, weights.size() - first);
    const std::span<const T> part = matrix.subspan(first * width, count * width);
    if (vectors) {
      combine_vectors(weights.subspan(first, count), part, sums);
    } else {
      combine_scalar(weights.subspan(first, count), part, sums);
    }
  }
}

template <class T>
void dot_integer_rows(std::span<const E> weights, std::span<const T> matrix, std::span<E> sums) {
  assert(matrix.size() == weights.size() * sums.size() && weights.size() <= max_rows / 4);
  const std::size_t lanes = HWY_DYNAMIC_DISPATCH(word_lanes)();
  const std::size_t row_words = weights.size() * sizeof(T) / sizeof(std::uint64_t);
  const std::size_t rows_together = row_words == 0 ? 0 : std::max<std::size_t>(1, lanes / row_words);
  if (rows_together == 0 || sums.size() % rows_together != 0) {
    for (std::size_t r = 0; r < sums.size(); ++r) {
      for (std::size_t c = 0; c < weights.size(); ++c) {
        sums[r] += weights[c] * to_field(matrix[r * weights.size() + c]);
      }
    }
    return;
  }
  const std::size_t vectors = std::max<std::size_t>(1, row_words / lanes);
  std::vector<std::uint64_t> limbs(vectors * 16 * lanes);
  for (std::size_t word = 0; word < vectors * lanes; ++word) {
    for (std::size_t piece = 0; piece < 4; ++piece) {
      const std::size_t index = word % row_words * 4 + piece;
      const F scale = two_to_the(static_cast<unsigned>(16 * (index % Pieces<T>::per_value)));
      split(weights[index / Pieces<T>::per_value] * scale,
            limbs.data() + (word / lanes * 4 + piece) * 4 * lanes + word % lanes, lanes);
    }
  }
  const E offset = total(weights) * Pieces<T>::offset();
  // not the pointer: before the first call of any kernel it is a detour that asks the processor each time
  const auto dot = [](auto... arguments) { return HWY_DYNAMIC_DISPATCH(dot_row)(arguments...); };
  const std::size_t lanes_of_row = lanes / rows_together;
  std::array<std::uint64_t, 4 * max_lanes> out;
  std::size_t first = 0;
  if (rows_together == 1) {
    const auto dots = [](auto... arguments) { return HWY_DYNAMIC_DISPATCH(dot_rows)(arguments...); };
    for (; first + lanes <= sums.size(); first += lanes) {
      dots(as_words(matrix.data()) + first * row_words, vectors, Pieces<T>::flip, limbs.data(), out.data(),
           out.data() + max_lanes);
      for (std::size_t i = 0; i < lanes; ++i) {
        sums[first + i] += E{F::from_canonical(out[i]), F::from_canonical(out[max_lanes + i])} - offset;
      }
    }
  }
  for (std::size_t r = first; r < sums.size(); r += rows_together) {
    dot(as_words(matrix.data()) + r * row_words, vectors, Pieces<T>::flip, limbs.data(), out.data());
    for (std::size_t i = 0; i < rows_together; ++i) {
      std::array<std::uint64_t, 4> limb_sums{};
      for (std::size_t limb = 0; limb < 4; ++limb) {
        for (std::size_t lane = 0; lane < lanes_of_row; ++lane) {
          limb_sums[limb] += out[limb * lanes + i * lanes_of_row + lane];
        }
      }
      sums[r + i] += join(limb_sums.data(), 1) - offset;
    }
  }
}

#define TESSERA_INSTANTIATE(T)                                                              \
  template void combine_integer_rows(std::span<const E>, std::span<const T>, std::span<E>); \
  template void dot_integer_rows(std::span<const E>, std::span<const T>, std::span<E>)
TESSERA_INSTANTIATE(std::int16_t);
TESSERA_INSTANTIATE(std::uint16_t);
TESSERA_INSTANTIATE(std::int32_t);
TESSERA_INSTANTIATE(std::int64_t);
#undef TESSERA_INSTANTIATE

}  // namespace tessera
#endif  // HWY_ONCE
