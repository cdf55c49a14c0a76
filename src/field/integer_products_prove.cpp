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
/// Limbs of weights, in words, that all rows meet before the next ones: half of the nearest cache.
constexpr std::size_t limbs_at_once = std::size_t{1} << 11;

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

/// As many rows as are combined value by value: what vectors take for a word of the result is as much.
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

/// The weights of a row's pieces, in the order in which dot_rows() takes them: of a narrow one for each row of a
/// vector.
template <class T>
void limbs_of_columns(std::span<const E> weights, std::size_t row_words, std::span<std::uint64_t> limbs) {
  const std::size_t lanes = word_lanes();
  for (std::size_t word = 0; word < limbs.size() / 16; ++word) {
    for (std::size_t piece = 0; piece < 4; ++piece) {
      std::uint64_t* const to = limbs.data() + (word / lanes * 4 + piece) * 4 * lanes + word % lanes;
      if (word >= row_words) {  // as of the row before
        for (std::size_t limb = 0; limb < 4; ++limb) {
          to[limb * lanes] = to[limb * lanes - row_words];
        }
        continue;
      }
      const std::size_t index = word * 4 + piece;
      const F scale = two_to_the(static_cast<unsigned>(16 * (index % Pieces<T>::per_value)));
      split(weights[index / Pieces<T>::per_value] * scale, to, lanes);
    }
  }
}

}  // namespace

template <class T>
void IntegerCombination<T>::prepare(std::span<const E> weights, std::size_t width) {
  weights_ = weights;
  width_ = width;
  rows_together_ = 0;
  const std::size_t lanes = word_lanes();
  const std::size_t row_words = width * sizeof(T) / sizeof(std::uint64_t);
  // widths are powers of two; too narrow or few rows for whole vectors: plainly
  if (weights.size() <= few_rows<T> || row_words == 0 ||
      weights.size() % std::max<std::size_t>(1, lanes / row_words) != 0) {
    return;
  }
  rows_together_ = row_words < lanes ? lanes / row_words : 1;
  offset_ = total(weights) * Pieces<T>::offset();
  const bool broadcast = rows_together_ == 1;
  limbs_.resize(weights.size() / rows_together_ * 4 * (broadcast ? 1 : lanes));
  for (std::size_t r = 0; r < weights.size(); ++r) {
    if (broadcast) {
      split(weights[r], limbs_.data() + 4 * r, 1);
      continue;
    }
    std::uint64_t* const group = limbs_.data() + r / rows_together_ * 4 * lanes;
    for (std::size_t lane = 0; lane < row_words; ++lane) {
      split(weights[r], group + r % rows_together_ * row_words + lane, lanes);
    }
  }
}

template <class T>
void IntegerCombination<T>::add(std::span<const T> matrix, std::span<E> sums) const {
  assert(sums.size() == width_ && matrix.size() == weights_.size() * width_);
  if (weights_.size() <= few_rows<T>) {
    return combine_few(weights_, matrix, sums);
  }
  if (rows_together_ == 0) {
    return combine_scalar(weights_, matrix, sums);
  }
  for (E& sum : sums) {
    sum -= offset_;
  }
  for (std::size_t first = 0; first < weights_.size(); first += max_rows) {
    const std::size_t count = std::min(max_rows, weights_.size() - first);
    add_vectors(first, count, matrix.subspan(first * width_, count * width_), sums);
  }
}

/// The sums of at most max_rows of the rows: more would overflow a lane.
template <class T>
void IntegerCombination<T>::add_vectors(std::size_t first, std::size_t count, std::span<const T> matrix,
                                        std::span<E> sums) const {
  const std::size_t lanes = word_lanes();
  const std::size_t row_words = width_ * sizeof(T) / sizeof(std::uint64_t);
  const std::size_t groups = count / rows_together_;
  const bool broadcast = rows_together_ == 1;
  const std::size_t group_limbs = 4 * (broadcast ? 1 : lanes);
  const std::uint64_t* const limbs = limbs_.data() + first / rows_together_ * group_limbs;
  const auto combine = broadcast ? combine_rows_broadcast : combine_rows_lanes;
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
              limbs + group * group_limbs, next + v * together * lanes, out.data() + v * 16 * lanes);
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

template <class T>
IntegerDots<T>::IntegerDots(std::span<const E> weights, std::size_t width) : weights_(weights), width_(width) {
  const std::size_t lanes = word_lanes();
  const std::size_t row_words = width * sizeof(T) / sizeof(std::uint64_t);
  if (row_words == 0) {
    return;
  }
  vectors_ = std::max<std::size_t>(1, row_words / lanes);
  rows_together_ = std::max<std::size_t>(1, lanes / row_words);
  const std::size_t matrices = weights.size() / width;
  const std::size_t limbs_of_one = vectors_ * 16 * lanes;
  limbs_.resize(matrices * limbs_of_one);
  for (std::size_t m = 0; m < matrices; ++m) {
    const std::span<const E> some = weights.subspan(m * width, width);
    limbs_of_columns<T>(some, row_words, std::span(limbs_).subspan(m * limbs_of_one, limbs_of_one));
    if (std::is_signed_v<T>) {
      offsets_.push_back(total(some) * Pieces<T>::offset());
    }
  }
}

template <class T>
void IntegerDots<T>::add(std::size_t first, std::span<const T> matrices, std::span<E> sums) const {
  const std::size_t size = sums.size() * width_;
  const std::size_t count = matrices.size() / size;
  assert(matrices.size() == count * size && count * width_ <= max_terms);
  if (vectors_ == 0 || sums.size() % rows_together_ != 0) {
    for (std::size_t m = 0; m < count; ++m) {
      add_plainly(weights_.subspan((first + m) * width_, width_), matrices.subspan(m * size, size), sums);
    }
    return;
  }
  const std::size_t most = std::max<std::size_t>(1, limbs_at_once / (vectors_ * 16 * word_lanes()));
  for (std::size_t m = 0; m < count; m += most) {
    const std::size_t some = std::min(most, count - m);
    add_vectors({first + m, first + m + some}, matrices.subspan(m * size, some * size), sums);
  }
}

template <class T>
void IntegerDots<T>::add_plainly(std::span<const E> weights, std::span<const T> matrix, std::span<E> sums) const {
  for (std::size_t r = 0; r < sums.size(); ++r) {
    for (std::size_t c = 0; c < width_; ++c) {
      sums[r] += weights[c] * to_field(matrix[r * width_ + c]);
    }
  }
}

template <class T>
void IntegerDots<T>::add_vectors(Range numbers, std::span<const T> matrices, std::span<E> sums) const {
  const std::size_t lanes = word_lanes();
  const std::size_t row_words = width_ * sizeof(T) / sizeof(std::uint64_t);
  const std::size_t rows = sums.size();
  E offset;
  if constexpr (std::is_signed_v<T>) {
    offset = total(std::span<const E>(offsets_).subspan(numbers.first, numbers.size()));
  }
  std::array<std::uint64_t, max_lanes> c0, c1;
  const auto add_row = [&](std::size_t row, std::size_t lane) {
    sums[row] += E{F::from_canonical(c0[lane]), F::from_canonical(c1[lane])} - offset;
  };
  const std::uint64_t* const words = as_words(matrices.data());
  const std::uint64_t* const limbs = limbs_.data() + numbers.first * vectors_ * 16 * lanes;
  const RowPieces pieces{vectors_, numbers.size(), rows * row_words, Pieces<T>::flip};
  std::size_t row = 0;
  for (; rows_together_ == 1 && row + lanes <= rows; row += lanes) {
    dot_rows(words + row * row_words, pieces, limbs, c0.data(), c1.data());
    for (std::size_t i = 0; i < lanes; ++i) {
      add_row(row + i, i);
    }
  }
  for (; row < rows; row += rows_together_) {
    dot_few_rows(words + row * row_words, pieces, std::min(row_words, lanes), limbs, c0.data(), c1.data());
    for (std::size_t i = 0; i < rows_together_; ++i) {
      add_row(row + i, i * row_words);
    }
  }
}

template <class T>
void combine_integer_rows(std::span<const E> weights, std::span<const T> matrix, std::span<E> sums) {
  thread_local IntegerCombination<T> combination;  // keeps its memory
  combination.prepare(weights, sums.size());
  combination.add(matrix, sums);
}

template <class T>
void dot_integer_rows(std::span<const E> weights, std::span<const T> matrix, std::span<E> sums) {
  assert(matrix.size() == weights.size() * sums.size());
  IntegerDots<T>(weights, weights.size()).add(0, matrix, sums);
}

#define TESSERA_INSTANTIATE(T)                                                              \
  template class IntegerCombination<T>;                                                     \
  template class IntegerDots<T>;                                                            \
  template void combine_integer_rows(std::span<const E>, std::span<const T>, std::span<E>); \
  template void dot_integer_rows(std::span<const E>, std::span<const T>, std::span<E>)
TESSERA_INSTANTIATE(std::int16_t);
TESSERA_INSTANTIATE(std::uint16_t);
TESSERA_INSTANTIATE(std::int32_t);
TESSERA_INSTANTIATE(std::int64_t);
#undef TESSERA_INSTANTIATE

}  // namespace tessera
