#pragma once

#include "commitment/bound_claims.hpp"
#include "commitment/residue_shares.hpp"
#include "memory/storage.hpp"

namespace tessera {

/// This rank's `columns` of a vector, place after place, 2^folding rows each, and the weights on them.
struct WeightShare {
  const ResidueShares& columns;
  std::span<E> weights;
};

/// The prover's dense weights on v_0: entry offset_j + hi is sum_i coefficient_i * w_i(hi, row point) over the forms on
/// oracle j. Of `columns`, this rank's.
ZeroedVector<E> claim_weights(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles,
                              std::span<const std::vector<const LinearForm*>> forms,
                              std::span<const std::vector<E>> coefficients, const BoundVariables& bound,
                              const ResidueShares& columns);

/// Adds weights that masks of a vector before have.
void add_place_weights(const PlaceWeights& masks, const WeightShare& share);

/// Adds the weights that a hiding proof's row masks have.
void add_row_mask_weights(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles, std::size_t masks,
                          const BoundVariables& bound, const WeightShare& share);

/// weights[offset + hi] += sum_i coefficient_i * x_i^hi, x_i = omega^(positions[i]): a transform of a sparse vector.
void add_power_weights(const PowerClaims& claims, std::span<const std::size_t> positions, unsigned log_domain,
                       const WeightShare& share);

}  // namespace tessera
