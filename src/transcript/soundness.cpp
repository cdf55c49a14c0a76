#include <algorithm>
#include <cmath>
#include <limits>
#include "transcript/soundness.hpp"

namespace tessera {

double SoundnessReport::round_by_round_bits() const {
  double least = std::numeric_limits<double>::infinity();
  for (const SoundnessEntry& entry : entries) {
    least = std::min(least, entry.bits);
  }
  return least;
}

double SoundnessReport::union_bits() const {
  const double least = round_by_round_bits();
  double scaled = 0;  // sum of errors in units of the largest, so that nothing underflows
  for (const SoundnessEntry& entry : entries) {
    scaled += std::exp2(least - entry.bits);
  }
  return entries.empty() ? least : least - std::log2(scaled);
}

}  // namespace tessera
