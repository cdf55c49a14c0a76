#pragma once

#include <array>

#include "commitment/bound_claims.hpp"
#include "transcript/affine.hpp"

/// \file
/// The opening of hiding proofs: what differs from opening.hpp. All oracles have rates of at most 1/2; their leaves
/// have salt after the column. Of a proof oracles are parameters and witness; of a renewal the parameters under the old
/// key, under the new one, and nothing but masks. The last oracle has the masks of the rounds over row variables.
///
///   |  # | from | message                                                                                           |
///   |  0 | P    | masked sum: the row masks' sum over all rows                                                      |
///   |  1 | V    | eta, gamma. Constraints const + sum c*cell = 0 are combined by powers of eta and become, with the |
///   |    |      | hidden parts of all claims' values, one weight on cells. Target: masked sum (coefficient 1) +     |
///   |    |      | claims (gamma, gamma^2, ..) + the constraints' constants (the next power), public                  |
///   |  2 | P, V | K rounds over row variables. All of the target is there at the beginning: an oracle with fewer rows|
///   |    |      | is constant in the first K - k_j variables, and its weights carry 2^-(K - k_j). The row masks are  |
///   |    |      | c_0 + sum_i c_i1*x_i + c_i2*x_i^2, c the elements of E in the mask columns                        |
///   |  3 | P    | v_t is committed to with columns behind its own: 9 masks c_0, c_11, c_12, .., c_42, the same in   |
///   |    |      | all 16 rows, then random ones, one more than there are positions. At least one vector is committed |
///   |    |      | to; leaves of the last one also have g, a random vector as long as the one in clear, at their point|
///   |  - | P    | masked sum: s = sum of c_0 + sum_i c_i1*x_i + c_i2*x_i^2 over the 16 rows                         |
///   |  6 | V    | delta: s has coefficient delta, the opened columns delta^2, delta^3, ..                           |
///   |  7 | P, V | rounds over v_t's rows, the masks with coefficient delta. Mask columns are values of v_{t+1}, where|
///   |    |      | their weights are delta*(1, x_1, x_1^2, .., x_4^2) at the challenges                              |
///   |  - | P    | instead of 3, once v_t has <= 2560 values: vector mask: <W, g>, W all weights on v_t              |
///   |  - | V    | epsilon. claim := epsilon*claim + that                                                            |
///   |  8 | P    | epsilon*v_t + g in clear; then 4, 5                                                               |
///   |  9 | V    | checks epsilon*(each opened column's value) + g at its leaf                                       |
///
/// Everything else is as it is in opening.hpp.
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

/// Batches claims that two commitments to the same tensors agree: for every one of `forms` forms, gamma^(i+1) times its
/// value in oracle 0 minus that in oracle 1, which is 0.
HidingBatch batch_differences(const OpeningSchedule& schedule, std::size_t forms, E gamma);

/// Weights of masks c_0, c_11, c_12, c_21, .. where these variables are bound: the one that was bound first is last.
std::vector<E> mask_weights(std::span<const E> point);
/// Index in v_0 of the first coordinate of the first row mask.
std::uint64_t row_masks_index(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles,
                              std::size_t masks);
/// The weights on v_0 that row masks have, at a point of v_0.
E row_masks_at(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles, std::size_t masks,
               const BoundVariables& bound);

/// The opened columns' claims on the vector in clear, which is masked by what their leaves have.
void mask_claims(PowerClaims& claims, const CommittedWord& word, const OpenedColumns& opened, E epsilon);

}  // namespace tessera
