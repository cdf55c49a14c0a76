#include <algorithm>
#include "sumcheck/round_weights.hpp"

namespace tessera {
namespace {

constexpr std::size_t low_variables = 8;  // 8 KiB of tables, and a multiplication by a high weight every 2^8 pairs

}  // namespace

RoundWeights::RoundWeights(std::span<const E> at)
    : RoundWeights(eq_table(at.last(std::min(low_variables, at.size()))),
                   eq_table(at.first(at.size() - std::min(low_variables, at.size())))) {}

RoundWeights RoundWeights::of(std::vector<E> weights) { return {std::move(weights), {E::one()}}; }

RoundWeights::RoundWeights(std::vector<E> low, std::vector<E> high) : low_(std::move(low)), high_(std::move(high)) {
  low_crossed_.reserve(low_.size());
  for (const E& weight : low_) {
    low_crossed_.emplace_back(weight.c1 * F::from_canonical(E::non_residue), weight.c0);
  }
}

}  // namespace tessera
