#include "arithmetic/product_kernels.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "arithmetic/product_kernels.cpp"
#include <hwy/foreach_target.h>

#include "arithmetic/pair_products-inl.hpp"
#include "arithmetic/stretches-inl.hpp"
#include "base/range.hpp"
#include "field/written_out-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

/// Rows of W at once: with two vectors of X their sums fill the registers. Of six rows on sixteen registers the
/// compiler keeps half on the stack.
constexpr std::size_t panel = HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON ? 12 : 4;
/// Steps after which a dot product of digits of 8 bits is widened: each is at most 2 * 2^15 * 2^7.
constexpr std::size_t widen_dots_after = 240;
constexpr std::size_t cache_line = 64;  // bytes

/// Adds the lanes of a sum of 32 bits, times 2^bits, to integers of 64.
HWY_INLINE void add_widened(S sum, int bits, std::int64_t* to) {
#if HWY_TARGET == HWY_SCALAR
  *to += std::int64_t{hn::GetLane(sum)} * (std::int64_t{1} << bits);
#else
  const hn::Half<Sums> half;
  const hn::RepartitionToWide<Sums> wide;
  const auto add = [&](auto part, std::int64_t* place) TESSERA_WRITTEN_OUT {
    const auto shifted = hn::ShiftLeftSame(hn::PromoteTo(wide, part), bits);
    hn::StoreU(hn::Add(hn::LoadU(wide, place), shifted), wide, place);
  };
  add(hn::LowerHalf(half, sum), to);
  add(hn::UpperHalf(half, sum), to + hn::Lanes(wide));
#endif
}

/// A group of columns, `used` of its vectors: sums (panel rows, stride) of which the first ones are added to. `weights`
/// (panel, 2 * pairs).
template <std::size_t vectors, std::size_t used = vectors>
void add_block(const std::int16_t* weights, std::size_t pairs, const Stretches& stretches, const Digits& x,
               const std::int16_t* values, std::int64_t* products) {
  const Sums d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t stride = x.padded_columns();
  constexpr std::size_t rows = vectors == 2 ? panel : panel / 2;
  const bool whole = x.count() == 1;  // a vector has columns of its own, not a digit of the same
  for (std::size_t first = 0; first < panel; first += rows) {
    std::size_t pair = 0;
    for (const std::size_t end : stretches.ends()) {
      S sums[rows][used];
      for (auto& of_row : sums) {
        for (S& sum : of_row) {
          sum = hn::Zero(d);
        }
      }
      do {  // no stretch is empty: known to be so, sums are not written to memory before the first step
        S vector[used];
        for (std::size_t i = 0; i < used; ++i) {
          vector[i] = load_pairs(values + (pair * vectors + i) * 2 * lanes);
        }
        for (std::size_t row = 0; row < rows; ++row) {
          std::int32_t both;
          std::memcpy(&both, weights + ((first + row) * pairs + pair) * 2, sizeof both);
          const S w = hn::Set(d, both);
          for (std::size_t i = 0; i < used; ++i) {
            sums[row][i] = add_products_of_pairs(sums[row][i], w, vector[i]);
          }
        }
      } while (++pair < end);
      for (std::size_t row = 0; row < rows; ++row) {
        std::int64_t* const to = products + (first + row) * stride;
        for (std::size_t i = 0; i < used; ++i) {
          if (whole) {
            add_widened(sums[row][i], 0, to + i * lanes);
          } else {
            add_widened(sums[row][i], static_cast<int>(x.bits() * i), to);
          }
        }
      }
    }
  }
}

/// Adds 2^15 times the excess of a group's columns, of tiles whose pairs are among the `pairs` from `first_pair` on.
HWY_NOINLINE void add_excess(const std::int16_t* weights, std::size_t pairs, std::size_t first_pair,
                             const Excess& excess, Range tiles, std::size_t stride, std::int64_t* products) {
  constexpr std::size_t vectors = 2;
  const Sums d;
  const std::size_t lanes = hn::Lanes(d);
  // a tile adds at most 2 * 2^15 * largest to a sum of 32 bits
  const auto at_once = static_cast<std::size_t>(std::max<std::int64_t>(1, (INT32_MAX >> 16) / excess.largest));
  for (std::size_t tile = tiles.first; tile < tiles.last;) {
    const std::size_t stop = std::min(tiles.last, tile + at_once);
    S sums[panel][vectors];
    for (auto& of_row : sums) {
      for (S& sum : of_row) {
        sum = hn::Zero(d);
      }
    }
    for (; tile < stop; ++tile) {
      const std::int16_t* const of_tile = excess.tiles.data() + tile * vectors * 2 * lanes;
      const S vector[vectors] = {load_pairs(of_tile), load_pairs(of_tile + 2 * lanes)};
      const std::int16_t* const of_pair = weights + 2 * (excess.pair[tile] - first_pair);
      for (std::size_t row = 0; row < panel; ++row) {
        std::int32_t both;
        std::memcpy(&both, of_pair + row * 2 * pairs, sizeof both);
        const S w = hn::Set(d, both);
        for (std::size_t i = 0; i < vectors; ++i) {
          sums[row][i] = add_products_of_pairs(sums[row][i], w, vector[i]);
        }
      }
    }
    for (std::size_t row = 0; row < panel; ++row) {
      for (std::size_t i = 0; i < vectors; ++i) {
        add_widened(sums[row][i], 15, products + row * stride + i * lanes);
      }
    }
  }
}

/// Rows against many columns. What is taken of X at a time stays in the cache for all panels.
template <std::size_t vectors>
void multiply_panels(const std::int16_t* weights, std::size_t rows, const Digits& x, std::int64_t* products) {
  const std::size_t lanes = hn::Lanes(Sums());
  const std::size_t in = x.rows();
  const std::size_t pairs = (in + 1) / 2;
  const std::size_t stride = x.padded_columns();
  const std::size_t group = x.count() == 1 ? vectors * lanes : lanes;  // columns
  const std::size_t panels = (rows + panel - 1) / panel;
  const std::size_t whole = rows / panel;
  RawVector<std::int16_t> copy(panels * panel * 2 * pairs_at_once);  // absent rows are 0
  RawVector<std::int64_t> last(whole == panels ? 0 : panel * stride);
  std::fill_n(products, whole * panel * stride, 0);
  std::ranges::fill(last, 0);
  const auto sums_of = [&](std::size_t i) { return i < whole ? products + i * panel * stride : last.data(); };
  Stretches stretches;
  const Excess& excess = x.excess();
  RawVector<std::size_t> tile(excess.empty() ? 0 : stride / group);  // of each group's excess the next one
  std::copy_n(excess.first.begin(), tile.size(), tile.begin());
  for (std::size_t first = 0; first < pairs; first += pairs_at_once) {
    const std::size_t count = std::min(pairs_at_once, pairs - first);
    const std::size_t present = std::min(in - 2 * first, 2 * count);
    if (present < 2 * count || rows < panels * panel) {
      std::ranges::fill(copy, std::int16_t{0});
    }
    for (std::size_t row = 0; row < rows; ++row) {
      std::copy_n(weights + row * in + 2 * first, present, copy.data() + row * 2 * count);
    }
    stretches.find(copy.data(), rows, count, x.limits() + 2 * first);
    for (std::size_t column = 0; column < stride; column += group) {
      const std::size_t number = column / group;
      const std::int16_t* const values = x.values() + (number * pairs + first) * vectors * 2 * lanes;
      const bool half = x.count() == 1 && column + lanes >= x.columns();  // the second vector is padding
      for (std::size_t i = 0; i < panels; ++i) {
        const std::int16_t* const of_panel = copy.data() + i * panel * 2 * count;
        if (half) {
          add_block<vectors, 1>(of_panel, count, stretches, x, values, sums_of(i) + column);
        } else {
          add_block<vectors>(of_panel, count, stretches, x, values, sums_of(i) + column);
        }
      }
      if (!tile.empty()) {
        std::size_t end = tile[number];
        while (end < excess.first[number + 1] && excess.pair[end] < first + count) {
          ++end;
        }
        const Range tiles{tile[number], end};
        for (std::size_t i = 0; i < panels && tiles.size() > 0; ++i) {
          add_excess(copy.data() + i * panel * 2 * count, count, first, excess, tiles, stride, sums_of(i) + column);
        }
        tile[number] = end;
      }
    }
  }
  std::copy_n(last.data(), (rows - whole * panel) * stride, products + whole * panel * stride);
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
  for (std::size_t begin = 0; begin < in; begin += widen_dots_after * step) {
    const std::size_t end = std::min(in, begin + widen_dots_after * step);
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
void multiply_few_or_many(const std::int16_t* weights, std::size_t rows, const Digits& x, std::int64_t* products) {
  if (x.few()) {
    multiply_few<digits>(weights, rows, x, products);
  } else {
    multiply_panels<std::min<std::size_t>(digits, 3)>(weights, rows, x, products);
  }
}

void multiply_any(const std::int16_t* weights, std::size_t rows, const Digits& x, std::int64_t* products) {
  switch (x.count()) {
    case 1:
    case 2:
      multiply_few_or_many<2>(weights, rows, x, products);
      break;
    case 3:
      multiply_few_or_many<3>(weights, rows, x, products);
      break;
    default:
      multiply_few_or_many<4>(weights, rows, x, products);
      break;
  }
}

std::size_t panel_rows() { return panel; }

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
HWY_EXPORT(panel_rows);
HWY_EXPORT(multiply_any);

std::size_t product_panel_rows() { return HWY_DYNAMIC_DISPATCH(panel_rows)(); }

void multiply_digits(const std::int16_t* weights, std::size_t rows, const Digits& digits,
                     std::span<std::int64_t> products) {
  HWY_DYNAMIC_DISPATCH(multiply_any)(weights, rows, digits, products.data());
}

}  // namespace tessera
#endif
