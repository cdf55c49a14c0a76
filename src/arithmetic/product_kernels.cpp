#include "arithmetic/product_kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "arithmetic/product_kernels.cpp"
#include <hwy/foreach_target.h>

#include "arithmetic/pair_products-inl.hpp"
#include "field/written_out-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

/// Rows of W at once: with two digits of X their sums fill the registers. Of six rows on sixteen registers the compiler
/// keeps half on the stack.
constexpr std::size_t panel = HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON ? 12 : 4;
/// Steps after which a sum of products of pairs is widened: each is at most 2 * 2^15 * 2^7.
constexpr std::size_t widen_after = 240;
constexpr std::size_t cache_line = 64;  // bytes

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE S load_pairs(const std::int16_t* from) {
  S pairs;
  std::memcpy(&pairs, from, sizeof(S));
  return pairs;
}
HWY_INLINE void store_pairs(S pairs, std::int16_t* to) { std::memcpy(to, &pairs, sizeof(S)); }
#else
// A vector is loaded and stored whole: of std::memcpy a compiler may make two copies of half a vector through the
// stack, and the read of the whole waits for both.
using Halves = hn::Repartition<std::int16_t, Sums>;
HWY_INLINE S load_pairs(const std::int16_t* from) { return hn::BitCast(Sums(), hn::LoadU(Halves(), from)); }
HWY_INLINE void store_pairs(S pairs, std::int16_t* to) { hn::StoreU(hn::BitCast(Halves(), pairs), Halves(), to); }
#endif

std::size_t sum_lanes() { return hn::Lanes(Sums()); }

/// A block of columns: sums (panel rows, stride) of which the first ones are added to. `weights` (panel, 2 * pairs).
template <std::size_t digits>
void add_block(const std::int16_t* weights, std::size_t pairs, const std::int16_t* values, std::int64_t* products,
               std::size_t stride) {
  const Sums d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::size_t rows = digits == 2 ? panel : panel / 2;
  for (std::size_t first = 0; first < panel; first += rows) {
    S sums[rows][digits];
    for (auto& of_row : sums) {
      for (S& sum : of_row) {
        sum = hn::Zero(d);
      }
    }
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      S x[digits];
      for (std::size_t i = 0; i < digits; ++i) {
        x[i] = load_pairs(values + (pair * digits + i) * 2 * lanes);
      }
      for (std::size_t row = 0; row < rows; ++row) {
        std::int32_t both;
        std::memcpy(&both, weights + ((first + row) * pairs + pair) * 2, sizeof both);
        const S w = hn::Set(d, both);
        for (std::size_t i = 0; i < digits; ++i) {
          sums[row][i] = add_products_of_pairs(sums[row][i], w, x[i]);
        }
      }
    }
    for (std::size_t row = 0; row < rows; ++row) {
      std::int64_t* const to = products + (first + row) * stride;
      HWY_ALIGN std::int32_t parts[digits][16];
      for (std::size_t i = 0; i < digits; ++i) {
        hn::Store(sums[row][i], d, parts[i]);
      }
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        std::int64_t sum = to[lane];
        for (std::size_t i = 0; i < digits; ++i) {
          sum += std::int64_t{parts[i][lane]} * (std::int64_t{1} << (8 * i));
        }
        to[lane] = sum;
      }
    }
  }
}

/// Rows against many columns. What is taken of X at a time stays in the cache for all panels.
template <std::size_t digits>
void multiply_panels(const std::int16_t* weights, std::size_t rows, const Digits& x, std::int64_t* products) {
  const std::size_t lanes = hn::Lanes(Sums());
  const std::size_t in = x.rows();
  const std::size_t pairs = (in + 1) / 2;
  const std::size_t stride = x.padded_columns();
  const std::size_t block = pairs * digits * 2 * lanes;
  const std::size_t panels = (rows + panel - 1) / panel;
  RawVector<std::int16_t> copy(panels * panel * 2 * widen_after);  // absent rows are 0
  RawVector<std::int64_t> sums(panels * panel == rows ? 0 : panels * panel * stride);
  std::int64_t* const to = sums.empty() ? products : sums.data();
  std::fill_n(to, panels * panel * stride, 0);
  for (std::size_t first = 0; first < pairs; first += widen_after) {
    const std::size_t count = std::min(widen_after, pairs - first);
    const std::size_t present = std::min(in - 2 * first, 2 * count);
    std::ranges::fill(copy, std::int16_t{0});
    for (std::size_t row = 0; row < rows; ++row) {
      std::copy_n(weights + row * in + 2 * first, present, copy.data() + row * 2 * count);
    }
    for (std::size_t column = 0; column < stride; column += lanes) {
      for (std::size_t i = 0; i < panels; ++i) {
        add_block<digits>(copy.data() + i * panel * 2 * count, count,
                          x.values() + (column / lanes) * block + first * digits * 2 * lanes,
                          to + i * panel * stride + column, stride);
      }
    }
  }
  if (!sums.empty()) {
    std::copy_n(sums.data(), rows * stride, products);
  }
}

/// Sum of all lanes of sums[0] + 256*sums[1] + ...
template <std::size_t digits>
HWY_INLINE std::int64_t total_of(const S* sums) {
#if HWY_TARGET == HWY_SCALAR
  std::int64_t total = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    total += std::int64_t{hn::GetLane(sums[i])} * (std::int64_t{1} << (8 * i));
  }
  return total;
#else
  const Sums d;
  const hn::Half<Sums> half;
  const hn::RepartitionToWide<Sums> wide;
  auto total = hn::Zero(wide);
  unrolled<digits>([&](auto i) TESSERA_WRITTEN_OUT {
    const auto both =
        hn::Add(hn::PromoteTo(wide, hn::LowerHalf(half, sums[i])), hn::PromoteTo(wide, hn::UpperHalf(half, sums[i])));
    total = hn::Add(total, hn::ShiftLeft<8 * i()>(both));
  });
  return hn::GetLane(hn::SumOfLanes(wide, total));
#endif
}

/// Rows against columns of which the digits follow each other: what is loaded of a row serves all columns, what is
/// loaded of a column all rows. `products` (rows, stride).
template <std::size_t rows, std::size_t columns, std::size_t digits>
HWY_INLINE void dot(const std::int16_t* weights, const Digits& x, std::size_t first_column, std::int64_t* products,
                    std::size_t stride) {
  const Sums d;
  const std::size_t step = 2 * hn::Lanes(d);
  const std::size_t in = x.rows();
  const std::int16_t* const values = x.values() + first_column * digits * x.stride();
  std::int64_t totals[rows][columns] = {};
  for (std::size_t begin = 0; begin < in; begin += widen_after * step) {
    const std::size_t end = std::min(in, begin + widen_after * step);
    S sums[rows * columns][digits];
    unrolled<rows * columns * digits>([&](auto i) TESSERA_WRITTEN_OUT { sums[i / digits][i % digits] = hn::Zero(d); });
    const auto add = [&](const auto& of_row, std::size_t i) TESSERA_WRITTEN_OUT {
      S w[rows];
      unrolled<rows>([&](auto row) TESSERA_WRITTEN_OUT { w[row] = of_row(row); });
      unrolled<columns * digits>([&](auto at) TESSERA_WRITTEN_OUT {
        const S value = load_pairs(values + at * x.stride() + i);
        unrolled<rows>([&](auto row) TESSERA_WRITTEN_OUT {
          S& sum = sums[row * columns + at / digits][at % digits];
          sum = add_products_of_pairs(sum, w[row], value);
        });
      });
    };
    std::size_t i = begin;
    for (; i + step <= end; i += step) {
      // memory is asked for the rows that come next in the order in which they lie: a few streams side by side would
      // each begin anew with every page
      unrolled<(rows * sizeof(S) + cache_line - 1) / cache_line>([&](auto line) TESSERA_WRITTEN_OUT {
        __builtin_prefetch(weights + rows * (in + i) + line * cache_line / sizeof(std::int16_t));
      });
      add([&](std::size_t row) TESSERA_WRITTEN_OUT { return load_pairs(weights + row * in + i); }, i);
    }
    if (i < end) {
      add(
          [&](std::size_t row) TESSERA_WRITTEN_OUT {
            HWY_ALIGN std::int16_t rest[32];
            store_pairs(hn::Zero(d), rest);
            std::copy_n(weights + row * in + i, end - i, rest);
            return load_pairs(rest);
          },
          i);
    }
    unrolled<rows * columns>(
        [&](auto at) TESSERA_WRITTEN_OUT { totals[at / columns][at % columns] += total_of<digits>(sums[at]); });
  }
  for (std::size_t row = 0; row < rows; ++row) {
    std::ranges::copy(totals[row], products + row * stride);
  }
}

/// Takes as many rows at a time as there are registers for their sums and for what is loaded.
template <std::size_t columns, std::size_t digits>
void dot_all(const std::int16_t* weights, std::size_t rows, const Digits& x, std::size_t column,
             std::int64_t* products) {
  constexpr std::size_t together = std::max<std::size_t>(1, 8 / (columns * digits));
  const std::size_t in = x.rows();
  const std::size_t stride = x.padded_columns();
  std::size_t row = 0;
  for (; row + together <= rows; row += together) {
    dot<together, columns, digits>(weights + row * in, x, column, products + row * stride + column, stride);
  }
  for (; row < rows; ++row) {
    dot<1, columns, digits>(weights + row * in, x, column, products + row * stride + column, stride);
  }
}

template <std::size_t digits>
void multiply_few(const std::int16_t* weights, std::size_t rows, const Digits& x, std::int64_t* products) {
  std::size_t column = 0;
  for (; column + 4 <= x.columns(); column += 4) {
    dot_all<4, digits>(weights, rows, x, column, products);
  }
  switch (x.columns() - column) {
    case 3:
      dot_all<3, digits>(weights, rows, x, column, products);
      break;
    case 2:
      dot_all<2, digits>(weights, rows, x, column, products);
      break;
    case 1:
      dot_all<1, digits>(weights, rows, x, column, products);
      break;
    default:
      break;
  }
}

template <std::size_t digits>
void multiply(const std::int16_t* weights, std::size_t rows, const Digits& x, std::int64_t* products) {
  if (x.few()) {
    multiply_few<digits>(weights, rows, x, products);
    return;
  }
  multiply_panels<digits>(weights, rows, x, products);
}

void multiply_any(const std::int16_t* weights, std::size_t rows, const Digits& x, std::int64_t* products) {
  switch (x.count()) {
    case 2:
      multiply<2>(weights, rows, x, products);
      break;
    case 3:
      multiply<3>(weights, rows, x, products);
      break;
    default:
      multiply<4>(weights, rows, x, products);
      break;
  }
}

std::size_t panel_rows() { return panel; }

/// A vector of columns of pairs of rows: `from` (2 * pairs, columns), of which the first columns are taken, `to`
/// (pairs, digits, a vector of columns, the pair's two rows).
template <class T>
void split_pairs(const T* from, std::size_t columns, std::size_t pairs, std::size_t digits, std::int16_t* to) {
  const Sums d;
  const hn::Rebind<T, Sums> narrow;
  const auto load = [&](const T* row) {
    if constexpr (sizeof(T) == sizeof(std::int32_t)) {
      return hn::LoadU(d, row);
    } else {
      return hn::PromoteTo(d, hn::LoadU(narrow, row));
    }
  };
  const auto put = [&](S low, S high) {
    store_pairs(hn::Or(hn::And(low, hn::Set(d, 0xffff)), hn::ShiftLeft<16>(high)), to);
    to += 2 * hn::Lanes(d);
  };
  const auto digit_of = [](S x) { return hn::ShiftRight<24>(hn::ShiftLeft<24>(x)); };
  // the digit is 256 less than the lowest byte where that is 128 and more
  const auto rest_of = [&](S x) { return hn::Add(hn::ShiftRight<8>(x), hn::And(hn::ShiftRight<7>(x), hn::Set(d, 1))); };
  for (std::size_t pair = 0; pair < pairs; ++pair, from += 2 * columns) {
    S a = load(from), b = load(from + columns);
    for (std::size_t digit = 0; digit + 1 < digits; ++digit) {
      put(digit_of(a), digit_of(b));
      a = rest_of(a);
      b = rest_of(b);
    }
    put(a, b);
  }
}

void split_narrow(const std::int16_t* from, std::size_t columns, std::size_t pairs, std::size_t digits,
                  std::int16_t* to) {
  split_pairs(from, columns, pairs, digits, to);
}

void split_wide(const std::int32_t* from, std::size_t columns, std::size_t pairs, std::size_t digits,
                std::int16_t* to) {
  split_pairs(from, columns, pairs, digits, to);
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
HWY_EXPORT(sum_lanes);
HWY_EXPORT(panel_rows);
HWY_EXPORT(multiply_any);
HWY_EXPORT(split_narrow);
HWY_EXPORT(split_wide);

namespace {

template <class T>
void split_whole_pairs(const T* from, std::size_t columns, std::size_t pairs, std::size_t digits, std::int16_t* to) {
  if constexpr (sizeof(T) == sizeof(std::int32_t)) {
    HWY_DYNAMIC_DISPATCH(split_wide)(from, columns, pairs, digits, to);
  } else {
    HWY_DYNAMIC_DISPATCH(split_narrow)(from, columns, pairs, digits, to);
  }
}

/// Digits of the largest value.
template <class T>
std::size_t digits_of(std::span<const T> values) {
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

}  // namespace

template <class T>
Digits::Digits(std::span<const T> values, std::size_t rows, std::size_t columns)
    : rows_(rows), columns_(columns), count_(values.empty() ? 2 : digits_of(values)), padded_columns_(columns) {
  const std::size_t lanes = HWY_DYNAMIC_DISPATCH(sum_lanes)();
  const auto put = [&](T value, std::int16_t* to, std::size_t step) {
    auto rest = std::int64_t{value};
    for (std::size_t i = 0; i + 1 < count_; ++i, to += step) {
      const std::int64_t digit = static_cast<std::int8_t>(static_cast<std::uint8_t>(rest));
      *to = static_cast<std::int16_t>(digit);
      rest = (rest - digit) >> 8;
    }
    *to = static_cast<std::int16_t>(rest);
  };
  if (few()) {
    const std::size_t step = 2 * lanes;
    stride_ = (rows + step - 1) / step * step;
    values_.resize(columns * count_ * stride_);
    std::ranges::fill(values_, std::int16_t{0});
    if (columns == 1 && count_ < most) {
      split_column(values, count_, values_.data(), stride_);
      return;
    }
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t column = 0; column < columns; ++column) {
        put(values[row * columns + column], values_.data() + column * count_ * stride_ + row, stride_);
      }
    }
    return;
  }
  padded_columns_ = (columns + lanes - 1) / lanes * lanes;
  const std::size_t pairs = (rows + 1) / 2;
  values_.resize(padded_columns_ / lanes * pairs * count_ * 2 * lanes);
#pragma omp parallel for schedule(static) if (values_.size() > (std::size_t{1} << 17))
  for (std::size_t block = 0; block < padded_columns_ / lanes; ++block) {
    const std::size_t first = block * lanes;
    const std::size_t present = std::min(lanes, columns - first);
    std::int16_t* const of_block = values_.data() + block * pairs * count_ * 2 * lanes;
    const std::size_t whole = present == lanes ? rows / 2 : 0;
    split_whole_pairs(values.data() + first, columns, whole, count_, of_block);
    for (std::size_t pair = whole; pair < pairs; ++pair) {
      std::int16_t* const to = of_block + pair * count_ * 2 * lanes;
      if (present < lanes || 2 * pair + 2 > rows) {
        std::fill_n(to, count_ * 2 * lanes, std::int16_t{0});
      }
      for (std::size_t row = 2 * pair; row < std::min(rows, 2 * pair + 2); ++row) {
        for (std::size_t i = 0; i < present; ++i) {
          put(values[row * columns + first + i], to + 2 * i + row % 2, 2 * lanes);
        }
      }
    }
  }
}

template Digits::Digits(std::span<const std::int16_t>, std::size_t, std::size_t);
template Digits::Digits(std::span<const std::int32_t>, std::size_t, std::size_t);

std::size_t product_panel_rows() { return HWY_DYNAMIC_DISPATCH(panel_rows)(); }

void multiply_digits(const std::int16_t* weights, std::size_t rows, const Digits& digits,
                     std::span<std::int64_t> products) {
  HWY_DYNAMIC_DISPATCH(multiply_any)(weights, rows, digits, products.data());
}

}  // namespace tessera
#endif
