#include "arithmetic/tables.hpp"

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#include "base/side_by_side.hpp"

namespace tessera {
namespace {

constexpr std::int32_t rows = 1 << 16;  // of EXP

// Every value below, up to 2^22 in absolute value, is far more accurate than this where long double has 64 bits or
// more: closer to a tie, rounding could differ between machines.
constexpr long double ambiguity = 1e-9L;

/// floor(base + 1/2 - delta) for an exact dyadic `base` and an approximate `delta` > 0, which may underflow.
std::int64_t round_difference(long double base, long double delta, const char* table) {
  const long double up = std::floor(base + 0.5L);
  const long double slack = base + 0.5L - up;  // exact, in [0, 1)
  const long double fraction = slack - delta;
  if (slack == 0.0L && delta < ambiguity) {
    return static_cast<std::int64_t>(up) - 1;  // the real value is just below the tie
  }
  if (std::fabs(fraction - std::round(fraction)) < ambiguity) {
    throw std::runtime_error(std::string(table) + " table: an entry is too close to a tie to be rounded reliably");
  }
  return static_cast<std::int64_t>(up + std::floor(fraction));
}

void check_activation(std::int32_t mlp_exponent, std::int32_t gelu_exponent, unsigned bits, const char* name) {
  const auto width = static_cast<std::int32_t>(bits);
  if (bits < 16 || bits > 18 || mlp_exponent < 0 || mlp_exponent >= width || gelu_exponent < 0 || gelu_exponent > 22 ||
      gelu_exponent - mlp_exponent + width > 24) {
    throw std::invalid_argument(std::string(name) + " table: " + std::to_string(bits) + " bits, exponents z " +
                                std::to_string(mlp_exponent) + ", g " + std::to_string(gelu_exponent) +
                                " out of range");
  }
}

/// body(1), ..., body(last), on all threads: a row takes part of a microsecond.
template <class Body>
void for_each_row(std::int32_t last, const Body& body) {
  constexpr std::int32_t parts = 64;
  run_side_by_side(parts, [&](std::size_t part) {
    const auto begin = static_cast<std::int32_t>(part) * (last / parts);
    const std::int32_t end = part + 1 == parts ? last : begin + last / parts;
    for (std::int32_t z = begin + 1; z <= end; ++z) {
      body(z);
    }
  });
}

/// Table of max(x, 0) - |x|*share(|x|): an exact part and a small positive one.
template <class Share>
std::vector<std::int32_t> share_table(std::int32_t mlp_exponent, std::int32_t gelu_exponent, unsigned bits,
                                      const char* name, Share&& share) {
  check_activation(mlp_exponent, gelu_exponent, bits, name);
  const std::int32_t half = std::int32_t{1} << (bits - 1);
  std::vector<std::int32_t> table(std::size_t{1} << bits);
  for_each_row(half, [&](std::int32_t z) {
    const long double x = std::ldexp(static_cast<long double>(z), -mlp_exponent);
    const long double scaled = std::ldexp(x, gelu_exponent);
    const long double delta = scaled * share(x);
    table[static_cast<std::size_t>(half - z)] = static_cast<std::int32_t>(round_difference(0.0L, delta, name));
    if (z < half) {
      table[static_cast<std::size_t>(half + z)] = static_cast<std::int32_t>(round_difference(scaled, delta, name));
    }
  });
  return table;
}

/// Table of max(x, 0) - |x|/(1 + exp(inner(|x|))): GELU's tanh form and SILU are of this form.
template <class Inner>
std::vector<std::int32_t> sigmoid_table(std::int32_t mlp_exponent, std::int32_t gelu_exponent, unsigned bits,
                                        const char* name, Inner&& inner) {
  return share_table(mlp_exponent, gelu_exponent, bits, name,
                     [&](long double x) { return 1.0L / (1.0L + std::exp(inner(x))); });
}

}  // namespace

std::vector<std::int32_t> exp_table(std::int32_t score_exponent, unsigned kappa) {
  if (score_exponent < 0 || score_exponent > 12 || kappa < 1 || kappa > 13) {
    throw std::invalid_argument("exp_table: score exponent " + std::to_string(score_exponent) + " (0..12) or kappa " +
                                std::to_string(kappa) + " (1..13) out of range");
  }
  std::vector<std::int32_t> table(rows);
  const long double step = std::ldexp(1.0L, -score_exponent);
  table[0] = (1 << (15 + kappa)) + 1;
  for_each_row(rows - 1, [&](std::int32_t d) {
    // 2^15*exp(-x) = 0 - (-2^15*exp(-x)), written with a positive delta below 2^15
    const long double missing = -std::expm1(-static_cast<long double>(d) * step) * 0x1p15L;
    const std::int64_t value = round_difference(0x1p15L, missing, "EXP");
    table[static_cast<std::size_t>(d)] = static_cast<std::int32_t>(value << kappa);
  });
  return table;
}

std::vector<std::int32_t> cap_table(double cap, std::int32_t score_exponent, std::int32_t capped_exponent) {
  constexpr std::int32_t half = rows / 2;
  if (!(cap > 0) || score_exponent < 0 || score_exponent > 15 || capped_exponent < -64 || capped_exponent > 12 ||
      std::ldexp(cap, capped_exponent) > 0x1p19 - 1) {
    throw std::invalid_argument("cap_table: cap " + std::to_string(cap) + ", exponents of scores " +
                                std::to_string(score_exponent) + ", of capped ones " + std::to_string(capped_exponent) +
                                " out of range");
  }
  const auto most = static_cast<long double>(cap);
  std::vector<std::int32_t> table(rows);
  for_each_row(half, [&](std::int32_t z) {
    const long double x = std::ldexp(static_cast<long double>(z), -score_exponent);
    const long double missing = std::ldexp(x - most * std::tanh(x / most), capped_exponent);
    const auto value = static_cast<std::int32_t>(round_difference(std::ldexp(x, capped_exponent), missing, "cap"));
    table[static_cast<std::size_t>(half - z)] = -value;  // no value is a tie
    if (z < half) {
      table[static_cast<std::size_t>(half + z)] = value;
    }
  });
  return table;
}

std::vector<std::int32_t> gelu_table(std::int32_t mlp_exponent, std::int32_t gelu_exponent, unsigned bits) {
  const long double slope = std::sqrt(2.0L / std::numbers::pi_v<long double>);
  return sigmoid_table(mlp_exponent, gelu_exponent, bits, "GELU",
                       [slope](long double x) { return 2.0L * (slope * (x + 0.044715L * x * x * x)); });
}

std::vector<std::int32_t> silu_table(std::int32_t mlp_exponent, std::int32_t gelu_exponent, unsigned bits) {
  return sigmoid_table(mlp_exponent, gelu_exponent, bits, "SILU", [](long double x) { return x; });
}

std::vector<std::int32_t> erf_gelu_table(std::int32_t mlp_exponent, std::int32_t gelu_exponent, unsigned bits) {
  return share_table(mlp_exponent, gelu_exponent, bits, "GELU",
                     [](long double x) { return std::erfc(x / std::numbers::sqrt2_v<long double>) / 2.0L; });
}

std::vector<std::int32_t> relu_table(std::int32_t mlp_exponent, std::int32_t gelu_exponent, unsigned bits) {
  check_activation(mlp_exponent, gelu_exponent, bits, "ReLU");
  const std::int32_t half = std::int32_t{1} << (bits - 1);
  std::vector<std::int32_t> table(std::size_t{1} << bits);
  for (std::int32_t z = 1; z < half; ++z) {
    const double scaled = std::ldexp(static_cast<double>(z), gelu_exponent - mlp_exponent);
    table[static_cast<std::size_t>(z + half)] = static_cast<std::int32_t>(std::floor(scaled + 0.5));
  }
  return table;
}

std::vector<std::int32_t> activation_table(ActivationKind kind, std::int32_t mlp_exponent, std::int32_t gelu_exponent,
                                           unsigned bits) {
  switch (kind) {
    case ActivationKind::silu:
      return silu_table(mlp_exponent, gelu_exponent, bits);
    case ActivationKind::erf_gelu:
      return erf_gelu_table(mlp_exponent, gelu_exponent, bits);
    case ActivationKind::relu:
      return relu_table(mlp_exponent, gelu_exponent, bits);
    case ActivationKind::gelu:
      break;
  }
  return gelu_table(mlp_exponent, gelu_exponent, bits);
}

}  // namespace tessera
