#pragma once

#include <vector>
#include "checkpoints/trained_model.hpp"

namespace tessera {

/// Radians that one position more turns pair i < m/2 of a head by: theta^(-2i/m), scaled.
std::vector<double> rotary_frequencies(const Rope& rope, std::size_t head_size);

/// What configurations say of yarn beside its factor and the original context: pairs that turn at least `fast` times in
/// it keep their angles, those that turn at most `slow` times are divided by the factor, others are mixed by their
/// number. `whole`: the numbers of the first and the last one are whole.
struct YarnTurns {
  double fast = 32, slow = 1;
  bool whole = true;
};

/// Sets which pairs are mixed, from theta and the original context. `places`: of a head that turn.
void mix_by_turns(Rope& rope, const YarnTurns& turns, std::size_t places);
/// What yarn multiplies cosines and sines with: 1 + 0.1*weight*ln(factor); 1 where nothing is stretched.
double yarn_attention(double factor, double weight = 1);

/// cos of position*frequency for all (position < n_positions, i < m/2), then sin: the order of the key's rotary table.
std::vector<double> rotary_values(const Rope& rope, const ModelShape& shape);

}  // namespace tessera
