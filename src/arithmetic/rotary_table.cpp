#include "arithmetic/rotary_table.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "parameters/scales.hpp"

namespace tessera {
namespace {

using Unsigned = unsigned __int128;

/// A number below 2^8 of this many fractional bits. Operations round down, by less than 2^-120.
constexpr unsigned fraction_bits = 120;
constexpr Unsigned one = Unsigned{1} << fraction_bits;

/// 1/(2 pi), from the digits A2F9836E 4E441529 FC2757D1 F534DDC0 of 2/pi.
constexpr Unsigned inverse_turn = ((Unsigned{0xA2F9836E4E441529} << 64) | Unsigned{0xFC2757D1F534DDC0}) >>
                                  (128 + 2 - fraction_bits);

/// floor(a * b / 2^120).
Unsigned multiply(Unsigned a, Unsigned b) {
  constexpr Unsigned low_half = ~std::uint64_t{0};
  const Unsigned a0 = a & low_half;
  const Unsigned a1 = a >> 64;
  const Unsigned b0 = b & low_half;
  const Unsigned b1 = b >> 64;
  const Unsigned low = a0 * b0;
  const Unsigned middle = a0 * b1 + (low >> 64);
  const Unsigned cross = a1 * b0 + (middle & low_half);
  const Unsigned high = a1 * b1 + (middle >> 64) + (cross >> 64);
  const Unsigned bottom = (cross << 64) | (low & low_half);
  return (high << (128 - fraction_bits)) | (bottom >> fraction_bits);
}

/// floor(2^120 * a / b), for 0 < b < 2^127, a/b < 2^8.
Unsigned quotient(Unsigned a, Unsigned b) {
  Unsigned result = a / b;
  Unsigned rest = a % b;
  for (unsigned i = 0; i < fraction_bits; ++i) {
    rest <<= 1;
    result <<= 1;
    if (rest >= b) {
      rest -= b;
      result |= 1;
    }
  }
  return result;
}

/// A number of 2^-10 .. 2^32 in units of 2^-64, exactly.
Unsigned exact(double value) {
  int exponent = 0;
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  return Unsigned{mantissa} << (exponent - 53 + 64);
}
constexpr Unsigned exact_one = Unsigned{1} << 64;

Unsigned power(Unsigned base, std::size_t exponent) {
  Unsigned result = one;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) {
      result = multiply(result, base);
    }
    base = multiply(base, base);
  }
  return result;
}

/// The largest number <= 1 whose power is at most `value` <= 1.
Unsigned root(Unsigned value, std::size_t degree) {
  Unsigned low = 0;
  Unsigned high = one + 1;
  while (high - low > 1) {
    const Unsigned middle = low + (high - low) / 2;
    (power(middle, degree) <= value ? low : high) = middle;
  }
  return low;
}

/// (1 - smooth) * f/factor + smooth * f, smooth = (original*f/(2 pi) - low)/(high - low) between 0 and 1: how the
/// configuration "llama3" divides frequencies. f/(2 pi) is one over the wave's length.
Unsigned interpolate(Unsigned frequency, const Rope& rope) {
  const Unsigned waves = multiply(frequency, inverse_turn);
  const Unsigned low = quotient(exact(rope.low_frequency), exact(rope.original_positions));
  const Unsigned high = quotient(exact(rope.high_frequency), exact(rope.original_positions));
  const Unsigned divided = multiply(frequency, quotient(exact_one, exact(rope.factor)));
  if (waves <= low) {
    return divided;
  }
  if (waves >= high) {
    return frequency;
  }
  const Unsigned smooth = quotient(waves - low, high - low);
  return multiply(one - smooth, divided) + multiply(smooth, frequency);
}

/// share * f + (1 - share) * f/factor, share that of yarn_share().
Unsigned mix(Unsigned frequency, const Rope& rope, std::size_t i) {
  const auto number = static_cast<double>(i);
  const Unsigned divided = multiply(frequency, quotient(exact_one, exact(rope.factor)));
  if (number <= rope.first_mixed) {
    return frequency;
  }
  if (number >= rope.last_mixed) {
    return divided;
  }
  const Unsigned gone = quotient(exact(number - rope.first_mixed), exact(rope.last_mixed - rope.first_mixed));
  return multiply(one - gone, frequency) + multiply(gone, divided);
}

/// Angles of position 1: at most 2^-85 away from the real ones, since the root of 1/theta >= 2^-32 is at most 2^-87.
std::vector<Unsigned> frequencies(const Rope& rope, std::size_t half) {
  std::vector<Unsigned> result;
  if (half == 0) {
    return result;
  }
  const Unsigned ratio = root(quotient(exact_one, exact(rope.theta)), half);
  Unsigned frequency = one;
  for (std::size_t i = 0; i < half; ++i, frequency = multiply(frequency, ratio)) {
    switch (rope.scaling) {
      case RopeScaling::none:
        result.push_back(frequency);
        break;
      case RopeScaling::linear:
        result.push_back(multiply(frequency, quotient(exact_one, exact(rope.factor))));
        break;
      case RopeScaling::llama3:
        result.push_back(interpolate(frequency, rope));
        break;
      case RopeScaling::yarn:
        result.push_back(mix(frequency, rope, i));
        break;
      case RopeScaling::listed:
        result.push_back(multiply(frequency, quotient(exact_one, exact(rope.pair_factors[i]))));
        break;
    }
  }
  return result;
}

/// A number of the same form with a sign, between -2 and 2.
struct Signed {
  Unsigned magnitude = 0;
  bool negative = false;

  friend Signed operator*(const Signed& a, const Signed& b) {
    return {multiply(a.magnitude, b.magnitude), a.negative != b.negative};
  }
  friend Signed operator-(const Signed& a, const Signed& b) { return a + Signed{b.magnitude, !b.negative}; }
  friend Signed operator+(const Signed& a, const Signed& b) {
    if (a.negative == b.negative) {
      return {a.magnitude + b.magnitude, a.negative};
    }
    return a.magnitude >= b.magnitude ? Signed{a.magnitude - b.magnitude, a.negative}
                                      : Signed{b.magnitude - a.magnitude, b.negative};
  }
};

/// Cosine and sine of one angle.
struct Direction {
  Signed cos{one, false}, sin{};

  /// Cosine and sine of an angle between 0 and 1, by their series.
  static Direction of(Unsigned angle) {
    Direction direction;
    Unsigned term = one;
    for (unsigned n = 1; term != 0; ++n) {
      term = multiply(term, angle) / n;
      Signed& sum = n % 2 == 0 ? direction.cos : direction.sin;
      sum = sum + Signed{term, n % 4 >= 2};
    }
    return direction;
  }
  /// Cosine and sine of the sum of two angles.
  friend Direction operator+(const Direction& a, const Direction& b) {
    return {a.cos * b.cos - a.sin * b.sin, a.sin * b.cos + a.cos * b.sin};
  }
};

/// floor(2^14 * x + 1/2). Errors of `value` stay below 2^13 * 2^-85 + 2^13 * 2^-117 < 2^-71, in units of an entry
/// 2^-57.
std::int16_t rounded(const Signed& value) {
  constexpr unsigned shift = fraction_bits - rotation_exponent;
  constexpr Unsigned ambiguity = Unsigned{1} << (shift - 52);
  const Unsigned sum = value.magnitude + (Unsigned{1} << (shift - 1));
  const Unsigned fraction = sum & ((Unsigned{1} << shift) - 1);
  if (fraction < ambiguity || fraction > (Unsigned{1} << shift) - ambiguity) {
    throw std::runtime_error("rotary table: an entry is too close to a tie to be rounded reliably");
  }
  const auto magnitude = static_cast<std::int16_t>(sum >> shift);
  return static_cast<std::int16_t>(value.negative ? -magnitude : magnitude);
}

void check(bool ok, const char* name, double value) {
  if (!ok) {
    throw std::invalid_argument(std::string("rotary table: ") + name + " " + std::to_string(value) + " out of range");
  }
}

}  // namespace

double yarn_share(const Rope& rope, std::size_t i) {
  const double gone = (static_cast<double>(i) - rope.first_mixed) / (rope.last_mixed - rope.first_mixed);
  return 1 - std::clamp(gone, 0.0, 1.0);
}

std::vector<std::int16_t> rotary_table(const Rope& rope, std::size_t half, std::size_t positions) {
  const auto within = [](double value, double low) { return value >= low && value <= 0x1p32; };
  check(within(rope.theta, 1.0), "theta", rope.theta);
  check(half >= 1 && half <= 256, "half of a head", static_cast<double>(half));
  check(positions >= 1 && positions <= 1U << 13, "number of positions", static_cast<double>(positions));
  const std::size_t turned = std::min(half, rope.turned);
  if (rope.scaling != RopeScaling::none && rope.scaling != RopeScaling::listed) {
    check(within(rope.factor, 1.0), "factor", rope.factor);
  }
  if (rope.scaling == RopeScaling::yarn) {
    check(rope.first_mixed >= 0 && rope.last_mixed - rope.first_mixed >= 0x1p-10 && rope.last_mixed <= 1024,
          "last pair that keeps its angle", rope.first_mixed);
  }
  if (rope.scaling == RopeScaling::listed) {
    check(rope.pair_factors.size() == turned, "number of factors", static_cast<double>(rope.pair_factors.size()));
    for (const double factor : rope.pair_factors) {
      check(within(factor, 0x1p-6), "factor of a pair", factor);
    }
  }
  if (rope.scaling == RopeScaling::llama3) {
    check(within(rope.low_frequency, 0x1p-10), "low_freq_factor", rope.low_frequency);
    check(within(rope.high_frequency, 0x1p-10) && rope.high_frequency > rope.low_frequency, "high_freq_factor",
          rope.high_frequency);
    check(within(rope.original_positions, rope.high_frequency), "original_max_position_embeddings",
          rope.original_positions);
  }
  std::vector<Direction> step;
  for (const Unsigned frequency : frequencies(rope, turned)) {
    step.push_back(Direction::of(frequency));
  }
  std::vector<std::int16_t> table(2 * positions * half);
  std::vector<Direction> at(half);
  for (std::size_t position = 0; position < positions; ++position) {
    std::fill_n(table.begin() + static_cast<std::ptrdiff_t>(position * half), half,
                std::int16_t{1} << rotation_exponent);
    for (std::size_t i = 0; i < turned; ++i) {
      table[position * half + i] = rounded(at[i].cos);
      table[(positions + position) * half + i] = rounded(at[i].sin);
      at[i] = at[i] + step[i];
    }
  }
  return table;
}

}  // namespace tessera
