#pragma once

#include <vector>
#include "checkpoints/trained_model.hpp"

namespace tessera {

/// Radians that one position more turns pair i < m/2 of a head by: theta^(-2i/m), scaled.
std::vector<double> rotary_frequencies(const Rope& rope, std::size_t head_size);

/// cos of position*frequency for all (position < n_positions, i < m/2), then sin: the order of the key's rotary table.
std::vector<double> rotary_values(const Rope& rope, const ModelShape& shape);

}  // namespace tessera
