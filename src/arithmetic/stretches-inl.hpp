// How many products of 16-bit integers fit sums of 32 bits, compiled once for every instruction set (see Highway's
// foreach_target.h): include it from a file that is itself such an include.
#if defined(TESSERA_STRETCHES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_STRETCHES_INL
#undef TESSERA_STRETCHES_INL
#else
#define TESSERA_STRETCHES_INL
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "arithmetic/pair_products-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

/// Pairs of weights that panels take at a time: with those of some panels a vector of columns stays in the first cache.
constexpr std::size_t pairs_at_once = 128;

/// Pairs of weights whose products' sums fit 32 bits, one such stretch after the other.
class Stretches {
 public:
  /// Finds those of `count` pairs of weights (rows, 2 * count), whose factors are at most `limits` (2 * count): in no
  /// row do |w|*limit add up to 2^31 in a stretch. One pair always fits, as limits are below 2^15.
  void find(const std::int16_t* weights, std::size_t rows, std::size_t count, const std::int16_t* limits) {
    const std::size_t units = (count + unit - 1) / unit;
    bounds_.resize(units * rows);
    for (std::size_t row = 0; row < rows; ++row) {
      put_bounds(weights + row * 2 * count, count, limits, bounds_.data() + row, rows);
    }
    ends_.clear();
    partial_.assign(rows, 0);
    for (std::size_t i = 0; i < units; ++i) {
      const std::uint32_t* const of_unit = bounds_.data() + i * rows;
      std::uint32_t most = 0, alone = 0;
      for (std::size_t row = 0; row < rows; ++row) {
        partial_[row] += of_unit[row];
        most = std::max(most, partial_[row]);
        alone = std::max(alone, of_unit[row]);
      }
      if (most > largest && i > 0) {
        end_at(unit * i);
        std::copy_n(of_unit, rows, partial_.begin());
      }
      if (alone > largest) {
        for (std::size_t pair = unit * i + 1; pair < std::min(count, unit * (i + 1)); ++pair) {
          end_at(pair);
        }
      }
    }
    end_at(count);
  }
  /// Where each stretch ends: the number of the first pair behind it.
  [[nodiscard]] const std::vector<std::uint32_t>& ends() const { return ends_; }

 private:
  static constexpr std::size_t unit = 4;  // pairs
  static constexpr unsigned dropped = 3;  // bits of products, so that sums fit
  /// With what -2^15 may add to it, 2^15 of each of these weights, a sum is below 2^31.
  static constexpr std::uint32_t largest = (0x7fffffffU - (pairs_at_once << 16)) >> dropped;

  /// Writes a bound for each unit of `count` pairs, `stride` places apart: the sum of |w|*limit, divided by 2^dropped
  /// and rounded up, with 2^15 - 1 for |-2^15|.
  static void put_bounds(const std::int16_t* weights, std::size_t count, const std::int16_t* limits,
                         std::uint32_t* bounds, std::size_t stride) {
    std::size_t first = 0;
#if HWY_TARGET != HWY_SCALAR
    const Sums d;
    const Halves pairs;
    const hn::RepartitionToWide<Sums> twos;
    constexpr std::size_t step = hn::MaxLanes(d);  // pairs
    constexpr std::size_t blocks = step / unit;
    const auto of = [&](std::size_t pair) {
      const auto w = hn::LoadU(pairs, weights + 2 * pair);
      const auto magnitude = hn::Max(w, hn::SaturatedSub(hn::Zero(pairs), w));
      const S sum = add_products_of_pairs(hn::Zero(d), hn::BitCast(d, magnitude), load_pairs(limits + 2 * pair));
      return hn::ShiftRight<dropped>(sum);
    };
    const auto halves = [&](S a, S b) {  // of each block of each vector two lanes, in turn
      return hn::BitCast(twos, hn::Add(hn::InterleaveLower(a, b), hn::InterleaveUpper(d, a, b)));
    };
    for (; first + 4 * step <= count; first += 4 * step) {
      const auto a = halves(of(first), of(first + step));
      const auto b = halves(of(first + 2 * step), of(first + 3 * step));
      const S sums =
          hn::Add(hn::BitCast(d, hn::InterleaveLower(a, b)), hn::BitCast(d, hn::InterleaveUpper(twos, a, b)));
      HWY_ALIGN std::int32_t of_units[step];
      hn::Store(sums, d, of_units);
      for (std::size_t i = 0; i < step; ++i) {
        const std::size_t vector = i % unit;
        bounds[(first / unit + vector * blocks + i / unit) * stride] = static_cast<std::uint32_t>(of_units[i]) + unit;
      }
    }
#endif
    for (; first < count; first += unit) {
      std::uint32_t sum = unit;
      for (std::size_t i = 2 * first; i < 2 * std::min(count, first + unit); ++i) {
        sum += static_cast<std::uint32_t>(std::abs(std::int32_t{weights[i]}) * std::int32_t{limits[i]}) >> dropped;
      }
      bounds[first / unit * stride] = sum + unit;
    }
  }
  void end_at(std::size_t pair) {
    if (ends_.empty() || ends_.back() < pair) {
      ends_.push_back(static_cast<std::uint32_t>(pair));
    }
  }

  std::vector<std::uint32_t> bounds_;   // (units, rows)
  std::vector<std::uint32_t> partial_;  // of each row, of the stretch that is not ended
  std::vector<std::uint32_t> ends_;
};

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
