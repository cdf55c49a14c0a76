#pragma once

#include "memory/storage.hpp"
#include "opening/batch.hpp"
#include "words/residue_shares.hpp"

namespace tessera {

/// This rank's `columns` of a vector, place after place, 2^folding rows each, and the weights on them.
struct WeightShare {
  const ResidueShares& columns;
  std::span<E> weights;
};

/// The prover's dense weights on v_0: entry offset_j + hi is sum_i coefficient_i * w_i(hi, row point) over the batch's
/// forms on oracle j. Of `columns`, this rank's.
ZeroedVector<E> claim_weights(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles,
                              const ClaimBatch& batch, const BoundVariables& bound, const ResidueShares& columns);

/// Adds the form's weights on the vector.
void add_weights(const PlaceWeights& form, const WeightShare& share);
/// weights[offset + hi] += sum_i coefficient_i * x_i^hi, x_i = omega^(exponents[i]): a transform of a sparse vector.
void add_weights(const PowerClaims& claims, std::span<const std::size_t> exponents, unsigned log_domain,
                 const WeightShare& share);

}  // namespace tessera
