#pragma once

#include <array>

#include "commitment/bound_claims.hpp"
#include "transcript/affine.hpp"

/// \file
/// The opening of hiding proofs: what differs from opening.hpp. All oracles have log_inverse_rate 1. The last one,
/// the carrier of the masks, has a domain at least as large as any; its leaves hold, after the column, both coordinates
/// of the masks g of all segments of v_0 at the leaf's point, and salt; those of the others only salt. Of a proof
/// oracles are parameters and witness; of a renewal the parameters under the old key, under the new one, and nothing
/// but masks.
///
///   |  # | from | message                                                                                           |
///   |  0 | P    | masked sum: the row masks' sum over all rows                                                      |
///   |  1 | V    | eta, gamma. Constraints const + sum c*cell = 0 are combined by powers of eta and become, with the |
///   |    |      | hidden parts of all claims' values, one weight on cells. Target: masked sum (coefficient 1) +     |
///   |    |      | claims (gamma, gamma^2, ..) + the constraints' constants (the next power), public                  |
///   |  2 | P, V | K rounds over row variables. All of the target is there at the beginning: an oracle with fewer rows|
///   |    |      | is constant in the first K - k_j variables, and its weights carry 2^-(K - k_j). The row masks are  |
///   |    |      | c_0 + sum_i c_i1*x_i + c_i2*x_i^2, c the elements of E in the mask columns                        |
///   |  - | P    | vector mask: <W, g>, W the weights on v_0                                                         |
///   |  - | V    | epsilon. v_0 := epsilon*v_0 + g, claim := epsilon*claim + that                                    |
///   |  5 | V, P | one list of positions y in the carrier's domain, as many as the highest rate asks for; the others |
///   |    |      | are opened at y mod theirs. Claims of leaf y: epsilon*(sum_lo beta(alpha, lo) column[lo]) + g at  |
///   |    |      | omega^y, of all segments                                                                          |
///
/// Everything else, and everything from v_0's root on, is as it is in opening.hpp.
namespace tessera {

/// Beside the claims, what a hiding proof leaves to be opened.
struct HidingClaims {
  std::vector<Affine> constraints;     // which are zero
  std::array<std::size_t, 4> cells{};  // the witness oracle's tensor that holds each kind of cell
  std::size_t masks = 0;               // that holds the row masks, constant along rows
};

/// All claims on two oracles as one: coefficients of weights, and what they add up to.
struct HidingBatch {
  std::vector<std::vector<E>> coefficients;  // by oracle and claim
  std::vector<LinearForm> cells;             // on the witness, coefficient 1
  E target;
};

/// 2^-(K - k_j), by oracle.
std::vector<E> row_scales(const OpeningSchedule& schedule);

/// `eta`, `gamma`: as drawn. Throws std::invalid_argument if claims do not fit.
HidingBatch batch_hidden(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles,
                         std::span<const std::vector<ClaimOf<Affine>>> claims, const HidingClaims& hiding, E eta,
                         E gamma);

/// The same of two commitments to the same tensors: for every one of `forms` forms, gamma^(i+1) times its value in
/// oracle 0 minus that in oracle 1, which is 0.
HidingBatch batch_differences(const OpeningSchedule& schedule, std::size_t forms, E gamma);

/// Weights of the row masks once rows are bound: of c_0, c_11, c_12, c_21, ..
std::vector<E> row_mask_weights(const BoundVariables& bound, unsigned row_variables);
/// Index in v_0 of the first coordinate of the first row mask.
std::uint64_t row_masks_index(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles,
                              std::size_t masks);
/// The weights on v_0 that row masks have, at a point of v_0.
E row_masks_at(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles, std::size_t masks,
               const BoundVariables& bound);

/// The positions of a word, distinct and ascending, for those of the carrier.
std::vector<std::size_t> shared_positions(const CommittedWord& word, std::span<const std::size_t> positions);

/// The claims of round 0's leaves on v_0. `opened`: by oracle.
std::vector<PowerClaims> masked_power_claims(const OpeningSchedule& schedule, std::span<const OpenedColumns> opened,
                                             const BoundVariables& bound, E epsilon);

}  // namespace tessera
