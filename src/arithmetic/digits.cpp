#include "arithmetic/digits.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

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
  count_ = width <= 15 ? 1 : width <= 29 ? 2 : 3;
  bits_ = count_ == 2 ? width / 2 + 1 : 11;
  const std::uint32_t low = count_ == 1 ? 0 : 1U << (bits_ - 1);
  limits_.resize(2 * pairs);
  std::ranges::transform(largest, limits_.begin(), [&](std::uint32_t value) {
    return static_cast<std::int16_t>(std::max(low, count_ == 1 ? value : (value >> bits_) + 1));
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
}

template Digits::Digits(std::span<const std::int16_t>, std::size_t, std::size_t);
template Digits::Digits(std::span<const std::int32_t>, std::size_t, std::size_t);

}  // namespace tessera
#endif
