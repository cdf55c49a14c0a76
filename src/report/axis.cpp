#include "report/axis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace tessera::report {

double drawable(double value) {
  constexpr double least = 1e-12, most = 1e12;
  return value >= least ? std::min(value, most) : 0;  // 0 for what is no number, too
}

std::string coordinate(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

std::string tick_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.12g", value);
  return text.data();
}

std::vector<double> ticks(double least, double most) {
  const double raw = std::max(most - least, 1e-9) / 6;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  const double ratio = raw / power;
  const double step = power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
  std::vector<double> values;
  for (double k = std::ceil(least / step - 1e-9); k * step <= most * (1 + 1e-9); ++k) {
    values.push_back(k == 0 ? 0 : k * step);  // not -0
  }
  return values;
}

std::vector<double> logarithmic_ticks(double least, double most) {
  constexpr double many_decades = 4;
  const bool fine = std::log10(most / least) < many_decades;
  std::vector<double> values;
  for (int exponent = static_cast<int>(std::floor(std::log10(least))); std::pow(10, exponent) <= most; ++exponent) {
    for (const int factor : {1, 2, 5}) {
      const double value = factor * std::pow(10, exponent);
      if (value >= least * (1 - 1e-9) && value <= most * (1 + 1e-9) && (fine || factor == 1)) {
        values.push_back(value);
      }
    }
  }
  return values;
}

}  // namespace tessera::report
