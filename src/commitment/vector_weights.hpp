#pragma once

#include "commitment/bound_claims.hpp"
#include "commitment/residue_shares.hpp"
#include "hash/keyed_stream.hpp"
#include "memory/storage.hpp"

namespace tessera {

/// The prover's dense weights on v_0: entry offset_j + hi is sum_i coefficient_i * w_i(hi, row point) over the forms on
/// oracle j.
/// Of `columns`, this rank's: place after place, 2^folding rows each.
ZeroedVector<E> claim_weights(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles,
                              std::span<const std::vector<const LinearForm*>> forms,
                              std::span<const std::vector<E>> coefficients, const BoundVariables& bound,
                              const ResidueShares& columns);

/// Adds the weights that a hiding proof's row masks have.
void add_row_mask_weights(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles, std::size_t masks,
                          const BoundVariables& bound, const ResidueShares& columns, std::span<E> weights);

/// The mask g of v_0: random elements by place, zero where no oracle has a segment; made anew where it is needed.
/// <g, weights>, of this rank's `columns`.
E vector_mask_sum(const OpeningSchedule& schedule, const KeyedStream& stream, const ResidueShares& columns,
                  std::span<const E> weights);
/// values := epsilon * values + g, of this rank's `columns`.
void mask_values(const OpeningSchedule& schedule, const KeyedStream& stream, const ResidueShares& columns, E epsilon,
                 std::span<E> values);

/// weights[offset + hi] += sum_i coefficient_i * x_i^hi, x_i = omega^(positions[i]): a transform of a sparse vector. Of
/// `columns`, this rank's, each of 2^folding rows.
void add_power_weights(const PowerClaims& claims, std::span<const std::size_t> positions, unsigned log_domain,
                       const ResidueShares& columns, std::span<E> weights);

}  // namespace tessera
