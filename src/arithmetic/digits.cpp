#include "arithmetic/digits.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "arithmetic/digits.cpp"
#include <hwy/foreach_target.h>

#include "arithmetic/pair_products-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

std::size_t sum_lanes() { return hn::Lanes(Sums()); }

/// A vector of columns of pairs of rows: `from` (2 * pairs, columns), of which the first columns are taken, `to`
/// (pairs, step), a vector of columns, the pair's two rows, for each digit.
template <class T>
void split_pairs(const T* from, std::size_t columns, std::size_t pairs, unsigned bits, std::size_t digits,
                 std::size_t step, std::int16_t* to) {
  const Sums d;
  const hn::Rebind<T, Sums> narrow;
  const auto load = [&](const T* row) {
    if constexpr (sizeof(T) == sizeof(std::int32_t)) {
      return hn::LoadU(d, row);
    } else {
      return hn::PromoteTo(d, hn::LoadU(narrow, row));
    }
  };
  const auto put = [&](S low, S high, std::int16_t* place) {
    store_pairs(hn::Or(hn::And(low, hn::Set(d, 0xffff)), hn::ShiftLeft<16>(high)), place);
  };
  const int shift = static_cast<int>(bits), others = 32 - shift;
  const auto digit_of = [&](S x) { return hn::ShiftRightSame(hn::ShiftLeftSame(x, others), others); };
  // the digit is 2^bits less than the lowest bits where that is half of it and more
  const auto rest_of = [&](S x) {
    return hn::Add(hn::ShiftRightSame(x, shift), hn::And(hn::ShiftRightSame(x, shift - 1), hn::Set(d, 1)));
  };
  for (std::size_t pair = 0; pair < pairs; ++pair, from += 2 * columns, to += step) {
    S a = load(from), b = load(from + columns);
    for (std::size_t digit = 0; digit + 1 < digits; ++digit) {
      put(digit_of(a), digit_of(b), to + digit * 2 * hn::Lanes(d));
      a = rest_of(a);
      b = rest_of(b);
    }
    put(a, b, to + (digits - 1) * 2 * hn::Lanes(d));
  }
}

void split_narrow(const std::int16_t* from, std::size_t columns, std::size_t pairs, unsigned bits, std::size_t digits,
                  std::size_t step, std::int16_t* to) {
  split_pairs(from, columns, pairs, bits, digits, step, to);
}

void split_wide(const std::int32_t* from, std::size_t columns, std::size_t pairs, unsigned bits, std::size_t digits,
                std::size_t step, std::int16_t* to) {
  split_pairs(from, columns, pairs, bits, digits, step, to);
}

/// The largest absolute value of each of some rows.
template <class T>
void largest_of(const T* values, std::size_t rows, std::size_t columns, std::uint32_t* largest) {
  for (std::size_t row = 0; row < rows; ++row, values += columns) {
    T least = 0, most = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      least = std::min(least, values[i]);
      most = std::max(most, values[i]);
    }
    largest[row] = static_cast<std::uint32_t>(std::max(std::int64_t{most}, -std::int64_t{least}));
  }
}

void largest_narrow(const std::int16_t* values, std::size_t rows, std::size_t columns, std::uint32_t* largest) {
  largest_of(values, rows, columns, largest);
}

void largest_wide(const std::int32_t* values, std::size_t rows, std::size_t columns, std::uint32_t* largest) {
  largest_of(values, rows, columns, largest);
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
HWY_EXPORT(sum_lanes);
HWY_EXPORT(split_narrow);
HWY_EXPORT(split_wide);
HWY_EXPORT(largest_narrow);
HWY_EXPORT(largest_wide);

namespace {

/// More values are worth other threads.
constexpr std::size_t parallel_values = std::size_t{1} << 17;
constexpr unsigned excess_bits = 15;
/// Rows whose largest values are looked for together.
constexpr std::size_t rows_at_once = 16;

void split_whole_pairs(const std::int16_t* from, std::size_t columns, std::size_t pairs, unsigned bits,
                       std::size_t digits, std::size_t step, std::int16_t* to) {
  HWY_DYNAMIC_DISPATCH(split_narrow)(from, columns, pairs, bits, digits, step, to);
}
void split_whole_pairs(const std::int32_t* from, std::size_t columns, std::size_t pairs, unsigned bits,
                       std::size_t digits, std::size_t step, std::int16_t* to) {
  HWY_DYNAMIC_DISPATCH(split_wide)(from, columns, pairs, bits, digits, step, to);
}
void find_largest(const std::int16_t* values, std::size_t rows, std::size_t columns, std::uint32_t* largest) {
  HWY_DYNAMIC_DISPATCH(largest_narrow)(values, rows, columns, largest);
}
void find_largest(const std::int32_t* values, std::size_t rows, std::size_t columns, std::uint32_t* largest) {
  HWY_DYNAMIC_DISPATCH(largest_wide)(values, rows, columns, largest);
}

/// Digits of 8 bits of the largest value.
template <class T>
std::size_t bytes_of(std::span<const T> values) {
  if (sizeof(T) <= 2) {
    return 2;
  }
  const auto range = std::ranges::minmax(values);
  const auto fits = [&](unsigned bits) {
    return std::int64_t{range.min} >= -(std::int64_t{1} << bits) && std::int64_t{range.max} < std::int64_t{1} << bits;
  };
  return fits(15) ? 2 : fits(23) ? 3 : Digits::most;
}

/// Digits of one column below 2^23, each digit's `stride` values behind the one before it.
template <class T>
void split_column(std::span<const T> values, std::size_t digits, std::int16_t* to, std::size_t stride) {
  // with 128 added to each digit but the last, digits are bytes
  const std::int32_t added = digits == 2 ? 0x80 : 0x8080;
  for (std::size_t i = 0; i + 1 < digits; ++i) {
    for (std::size_t row = 0; row < values.size(); ++row) {
      to[i * stride + row] = static_cast<std::int16_t>(((values[row] + added) >> (8 * i) & 0xFF) - 0x80);
    }
  }
  for (std::size_t row = 0; row < values.size(); ++row) {
    to[(digits - 1) * stride + row] = static_cast<std::int16_t>((values[row] + added) >> (8 * (digits - 1)));
  }
}

/// The digits of a value, one in each `step`.
void put_digits(std::int64_t value, unsigned bits, std::size_t digits, std::int16_t* to, std::size_t step) {
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  for (std::size_t i = 0; i + 1 < digits; ++i, to += step) {
    const std::int64_t rest = (value + half) >> bits;
    *to = static_cast<std::int16_t>(value - (rest << bits));
    value = rest;
  }
  *to = static_cast<std::int16_t>(value);
}

}  // namespace

template <class T>
Digits::Digits(std::span<const T> values, std::size_t rows, std::size_t columns)
    : rows_(rows), columns_(columns), padded_columns_(columns) {
  if (few()) {
    cut_few(values);
  } else {
    cut_many(values);
  }
}

template <class T>
void Digits::cut_few(std::span<const T> values) {
  count_ = values.empty() ? 2 : bytes_of(values);
  bits_ = 8;
  const std::size_t step = 2 * HWY_DYNAMIC_DISPATCH(sum_lanes)();
  stride_ = (rows_ + step - 1) / step * step;
  values_.resize(columns_ * count_ * stride_);
  std::ranges::fill(values_, std::int16_t{0});
  if (columns_ == 1 && count_ < most) {
    split_column(values, count_, values_.data(), stride_);
    return;
  }
  for (std::size_t row = 0; row < rows_; ++row) {
    for (std::size_t column = 0; column < columns_; ++column) {
      put_digits(values[row * columns_ + column], bits_, count_, values_.data() + column * count_ * stride_ + row,
                 stride_);
    }
  }
}

template <class T>
void Digits::cut_many(std::span<const T> values) {
  const std::size_t lanes = HWY_DYNAMIC_DISPATCH(sum_lanes)();
  const std::size_t pairs = (rows_ + 1) / 2;
  RawVector<std::uint32_t> largest(2 * pairs);
  std::fill(largest.begin() + static_cast<std::ptrdiff_t>(rows_), largest.end(), 0);
#pragma omp parallel for schedule(static) if (values.size() > parallel_values)
  for (std::size_t first = 0; first < rows_; first += rows_at_once) {
    find_largest(values.data() + first * columns_, std::min(rows_at_once, rows_ - first), columns_,
                 largest.data() + first);
  }
  const auto width =
      static_cast<unsigned>(std::bit_width(largest.empty() ? 0U : *std::max_element(largest.begin(), largest.end())));
  // both digits of two are at most 2^14, so that |digit| < 2^15 as it is of one
  const bool excess = width > 15 && width <= 29 && find_excess(values, largest, 2 * lanes);
  count_ = width <= 15 || excess ? 1 : width <= 29 ? 2 : 3;
  bits_ = count_ == 2 ? width / 2 + 1 : 11;
  const std::uint32_t low = count_ == 1 ? 0 : 1U << (bits_ - 1);
  limits_.resize(2 * pairs);
  std::ranges::transform(largest, limits_.begin(), [&](std::uint32_t value) {
    return static_cast<std::int16_t>(count_ == 1 ? std::min<std::uint32_t>(value, INT16_MAX)
                                                 : std::max(low, (value >> bits_) + 1));
  });
  if (count_ == 3) {
    std::ranges::fill(limits_, std::int16_t{1 << 10});
  }
  const std::size_t blocks_of_group = count_ == 1 ? 2 : 1, vectors = count_ == 1 ? 2 : count_;
  const std::size_t group = blocks_of_group * lanes;
  padded_columns_ = (columns_ + group - 1) / group * group;
  const std::size_t step = vectors * 2 * lanes;
  values_.resize(padded_columns_ / group * pairs * step);
#pragma omp parallel for schedule(static) if (values_.size() > parallel_values)
  for (std::size_t block = 0; block < padded_columns_ / lanes; ++block) {
    const std::size_t first = block * lanes;
    const std::size_t present = first < columns_ ? std::min(lanes, columns_ - first) : 0;
    std::int16_t* const of_block =
        values_.data() + block / blocks_of_group * pairs * step + block % blocks_of_group * 2 * lanes;
    const std::size_t whole = present == lanes ? rows_ / 2 : 0;
    split_whole_pairs(values.data() + std::min(first, values.size()), columns_, whole, bits_, count_, step, of_block);
    for (std::size_t pair = whole; pair < pairs; ++pair) {
      std::int16_t* const to = of_block + pair * step;
      std::fill_n(to, count_ * 2 * lanes, std::int16_t{0});
      for (std::size_t row = 2 * pair; row < std::min(rows_, 2 * pair + 2); ++row) {
        for (std::size_t i = 0; i < present; ++i) {
          put_digits(values[row * columns_ + first + i], bits_, count_, to + 2 * i + row % 2, 2 * lanes);
        }
      }
    }
  }
  if (excess) {
    take_excess(lanes);
  }
}

/// The excess of groups of so many columns, if less than half of all tiles have any: else two digits take no longer.
template <class T>
bool Digits::find_excess(std::span<const T> values, std::span<const std::uint32_t> largest, std::size_t group) {
  const std::size_t groups = (columns_ + group - 1) / group;
  const auto excess_of = [](T value) {
    constexpr std::int64_t half = std::int64_t{1} << (excess_bits - 1);
    const bool fits = value >= -INT16_MAX && value <= INT16_MAX;
    return fits ? 0 : static_cast<std::int16_t>((std::int64_t{value} + half) >> excess_bits);
  };
  // calls body(row, first column, columns) for each part of a row in a group that has excess
  const auto for_parts = [&](std::size_t of_group, const auto& body) {
    const std::size_t first = of_group * group, count = std::min(group, columns_ - first);
    for (std::size_t row = 0; row < rows_; ++row) {
      if (largest[row] <= INT16_MAX) {
        continue;
      }
      int any = 0;
      for (std::size_t i = 0; i < count; ++i) {
        any |= excess_of(values[row * columns_ + first + i]);
      }
      if (any != 0) {
        body(row, first, count);
      }
    }
  };
  excess_.first.resize(groups + 1);
#pragma omp parallel for schedule(static) if (values.size() > parallel_values)
  for (std::size_t i = 0; i < groups; ++i) {
    std::size_t tiles = 0, last = SIZE_MAX;
    for_parts(i, [&](std::size_t row, std::size_t, std::size_t) { tiles += std::exchange(last, row / 2) != row / 2; });
    excess_.first[i + 1] = tiles;
  }
  excess_.first[0] = 0;
  std::partial_sum(excess_.first.begin(), excess_.first.end(), excess_.first.begin());
  const std::size_t tiles = excess_.first[groups];
  if (2 * tiles >= groups * ((rows_ + 1) / 2)) {
    return false;
  }
  const std::size_t tile_size = 2 * group;
  excess_.pair.resize(tiles);
  excess_.tiles.resize(tiles * tile_size);
  std::ranges::fill(excess_.tiles, std::int16_t{0});
#pragma omp parallel for schedule(static) if (values.size() > parallel_values)
  for (std::size_t i = 0; i < groups; ++i) {
    std::size_t end = excess_.first[i];
    for_parts(i, [&](std::size_t row, std::size_t first, std::size_t count) {
      if (end == excess_.first[i] || excess_.pair[end - 1] != row / 2) {
        excess_.pair[end++] = static_cast<std::uint32_t>(row / 2);
      }
      std::int16_t* const to = excess_.tiles.data() + (end - 1) * tile_size + row % 2;
      for (std::size_t j = 0; j < count; ++j) {
        to[2 * j] = static_cast<std::int16_t>(excess_of(values[row * columns_ + first + j]));
      }
    });
  }
  excess_.largest = (std::int64_t{std::ranges::max(largest)} >> excess_bits) + 1;
  return true;
}

/// Makes digits of values that were cut to 16 bits what the excess leaves of them.
void Digits::take_excess(std::size_t lanes) {
  const std::size_t step = 4 * lanes;  // of a pair, two vectors
  const std::size_t groups = excess_.first.size() - 1, pairs = (rows_ + 1) / 2;
#pragma omp parallel for schedule(static) if (excess_.tiles.size() > parallel_values)
  for (std::size_t i = 0; i < groups; ++i) {
    for (std::size_t tile = excess_.first[i]; tile < excess_.first[i + 1]; ++tile) {
      const std::int16_t* const of_tile = excess_.tiles.data() + tile * step;
      std::int16_t* const to = values_.data() + (i * pairs + excess_.pair[tile]) * step;
      for (std::size_t j = 0; j < step; ++j) {
        to[j] = static_cast<std::int16_t>(to[j] - of_tile[j] * (1 << excess_bits));
      }
    }
  }
}

template Digits::Digits(std::span<const std::int16_t>, std::size_t, std::size_t);
template Digits::Digits(std::span<const std::int32_t>, std::size_t, std::size_t);

}  // namespace tessera
#endif
