#include "checkpoints/stored_tensors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "arithmetic/clones.hpp"
#include "base/errors.hpp"

namespace tessera {
namespace {

TESSERA_CLONES(bool, all_finite, (const float* values, std::size_t size), (values, size)) {
  constexpr std::uint32_t exponent = 0x7F800000U;
  std::uint32_t found = 0;
#pragma omp simd reduction(| : found)
  for (std::size_t i = 0; i < size; ++i) {
    found |= (std::bit_cast<std::uint32_t>(values[i]) & exponent) == exponent ? 1U : 0U;
  }
  return found == 0;
}

}  // namespace

std::vector<float> StoredTensors::read(const std::string& tensor) const {
  const TensorEntry& found = entry(tensor);
  std::vector<float> values(found.count);
  read_rows(tensor, {0, found.extents.empty() ? 1 : found.extents.front()}, values);
  return values;
}

void check_finite(std::span<const float> values, const std::string& place, std::size_t first) {
  if (all_finite(values.data(), values.size())) {
    return;
  }
  const auto bad = std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
  throw InputError(place + "[" + std::to_string(first + static_cast<std::size_t>(bad - values.begin())) +
                   "]: expected a finite number, found " + (std::isnan(*bad) ? "NaN" : "infinity"));
}

}  // namespace tessera
