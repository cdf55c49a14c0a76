#pragma once

#include "commitment/bound_claims.hpp"
#include "commitment/residue_shares.hpp"
#include "memory/storage.hpp"

namespace tessera {

/// The prover's dense weights on v_0: entry offset_j + hi is sum_i gamma^i * w_i(hi, row point) over oracle j's claims.
/// Of `columns`, this rank's: place after place, 2^folding rows each.
ZeroedVector<E> claim_weights(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles,
                              std::span<const std::vector<Claim>> claims, E gamma, const BoundVariables& bound,
                              const ResidueShares& columns);

/// weights[offset + hi] += sum_i coefficient_i * x_i^hi, x_i = omega^(positions[i]): a transform of a sparse vector. Of
/// `columns`, this rank's, each of 2^folding rows.
void add_power_weights(const PowerClaims& claims, std::span<const std::size_t> positions, unsigned log_domain,
                       const ResidueShares& columns, std::span<E> weights);

}  // namespace tessera
