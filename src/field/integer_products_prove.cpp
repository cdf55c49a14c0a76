#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include "field/integer_products.hpp"
#include "field/integer_row_kernels.hpp"
#include <type_traits>
#include <vector>

namespace tessera {
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
constexpr std::size_t few_rows = sizeof(T);

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
      add_doubled_row(weights[r], doubled.data(), count, sums.data() + first);
    }
  }
}

/// At most max_rows rows, width and rows such that whole vectors of words are read.
template <class T>
void combine_vectors(std::span<const E> weights, std::span<const T> matrix, std::span<E> sums) {
  const std::size_t lanes = word_lanes();
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
  const auto combine = broadcast ? combine_rows_broadcast : combine_rows_lanes;
  const E offset = total(weights) * Pieces<T>::offset();
  for (E& sum : sums) {
    sum -= offset;
  }
  const std::size_t stride = broadcast ? row_words : lanes;
  const std::size_t vectors = std::max(row_words, lanes) / lanes;
  const std::size_t together = std::max(least_block, block_words / stride);
  thread_local std::vector<std::uint64_t> out;
  out.assign(vectors * 16 * lanes, 0);
  const std::uint64_t* const words = as_words(matrix.data());
  for (std::size_t group = 0; group < groups; group += together) {
    const std::uint64_t* const next = words + (group + together) * stride;
    for (std::size_t v = 0; v < vectors; ++v) {
      combine(words + group * stride + v * lanes, stride, std::min(together, groups - group), Pieces<T>::flip,
              limbs.data() + group * 4 * (broadcast ? 1 : lanes), next + v * together * lanes,
              out.data() + v * 16 * lanes);
    }
  }
  constexpr std::size_t values = 4 / Pieces<T>::per_value;  // of a word
  std::array<std::uint64_t, 4 * max_lanes> c0, c1;
  for (std::size_t v = 0; v < vectors; ++v) {
    join_pieces(out.data() + v * 16 * lanes, Pieces<T>::per_value, c0.data(), c1.data());
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      E* const of_word = sums.data() + (v * lanes + lane) % row_words * values;
      for (std::size_t i = 0; i < values; ++i) {
        of_word[i] += E{F::from_canonical(c0[i * lanes + lane]), F::from_canonical(c1[i * lanes + lane])};
      }
    }
  }
}

/// The weights of a row's pieces, in the order in which dot_rows() takes them: of a narrow one for each row of a
/// vector.
template <class T>
std::vector<std::uint64_t> limbs_of_columns(std::span<const E> weights, std::size_t row_words, std::size_t vectors) {
  const std::size_t lanes = word_lanes();
  std::vector<std::uint64_t> limbs(vectors * 16 * lanes);
  for (std::size_t word = 0; word < vectors * lanes; ++word) {
    for (std::size_t piece = 0; piece < 4; ++piece) {
      const std::size_t index = word % row_words * 4 + piece;
      const F scale = two_to_the(static_cast<unsigned>(16 * (index % Pieces<T>::per_value)));
      split(weights[index / Pieces<T>::per_value] * scale,
            limbs.data() + (word / lanes * 4 + piece) * 4 * lanes + word % lanes, lanes);
    }
  }
  return limbs;
}

}  // namespace

template <class T>
void combine_integer_rows(std::span<const E> weights, std::span<const T> matrix, std::span<E> sums) {
  assert(matrix.size() == weights.size() * sums.size());
  if (weights.size() <= few_rows<T>) {
    return combine_few(weights, matrix, sums);
  }
  const std::size_t lanes = word_lanes();
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
  const std::size_t lanes = word_lanes();
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
  const std::vector<std::uint64_t> limbs = limbs_of_columns<T>(weights, row_words, vectors);
  const E offset = total(weights) * Pieces<T>::offset();
  std::array<std::uint64_t, max_lanes> c0, c1;
  const auto add = [&](std::size_t row, std::size_t lane) {
    sums[row] += E{F::from_canonical(c0[lane]), F::from_canonical(c1[lane])} - offset;
  };
  const std::uint64_t* const words = as_words(matrix.data());
  std::size_t first = 0;
  for (; rows_together == 1 && first + lanes <= sums.size(); first += lanes) {
    dot_rows(words + first * row_words, vectors, Pieces<T>::flip, limbs.data(), c0.data(), c1.data());
    for (std::size_t i = 0; i < lanes; ++i) {
      add(first + i, i);
    }
  }
  for (; first < sums.size(); first += rows_together) {
    dot_few_rows(words + first * row_words, vectors, std::min(row_words, lanes), Pieces<T>::flip, limbs.data(),
                 c0.data(), c1.data());
    for (std::size_t i = 0; i < rows_together; ++i) {
      add(first + i, i * row_words);
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
