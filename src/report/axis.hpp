#pragma once

#include <string>
#include <vector>

namespace tessera::report {

/// The value as it can be drawn: 0, or from 10^-12 to 10^12.
double drawable(double value);
/// A coordinate as SVG has it.
std::string coordinate(double value);
/// "0.5", "20": a tick's value.
std::string tick_text(double value);
/// Four to ten round values from `least` to `most`.
std::vector<double> ticks(double least, double most);
/// 1, 2 and 5 times powers of ten from `least` to `most`, both positive; powers of ten alone where there are many.
std::vector<double> logarithmic_ticks(double least, double most);

}  // namespace tessera::report
