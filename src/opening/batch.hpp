#pragma once

#include <array>

#include "opening/schedule.hpp"
#include "opening/vector_forms.hpp"
#include "tensor/claim.hpp"
#include "transcript/affine.hpp"

namespace tessera {

/// All claims of an opening as one: forms on the oracles' tensors with their coefficients, and what these add up to.
struct ClaimBatch {
  std::vector<std::vector<const LinearForm*>> forms;  ///< by oracle; who makes the batch keeps them
  std::vector<std::vector<E>> coefficients;
  std::vector<E> targets;  ///< by oracle: what joins the running claim where its rows begin; empty: nothing does
  E target;                ///< what stands in the running claim from the beginning
  std::shared_ptr<const std::vector<LinearForm>> cells;  ///< forms that are of no claim
};

/// Coefficients 1, gamma, gamma^2, ..., through the claims of all oracles. Throws std::invalid_argument if claims do
/// not fit.
ClaimBatch batch_claims(std::span<const CommittedOracle> oracles, std::span<const std::vector<Claim>> claims, E gamma);

/// Beside the claims, what a hiding proof leaves to be opened.
struct HidingClaims {
  std::vector<Affine> constraints;     // which are zero
  std::array<std::size_t, 4> cells{};  // the witness oracle's tensor that holds each kind of cell
  std::size_t masks = 0;               // that holds the row masks, constant along rows
};

/// The batch of a hiding proof (masking.hpp, step 1). `eta`, `gamma`: as drawn. Throws std::invalid_argument if claims
/// do not fit.
ClaimBatch batch_hidden(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles,
                        std::span<const std::vector<ClaimOf<Affine>>> claims, const HidingClaims& hiding, E eta,
                        E gamma);

/// Batches claims that two commitments to the same tensors agree: for form i, gamma^(i+1) times its value in oracle 0
/// minus that in oracle 1, which is 0.
ClaimBatch batch_differences(const OpeningSchedule& schedule, std::span<const LinearForm> forms, E gamma);

/// 2^-(K - k_j), by oracle: what the weights of an oracle carry whose claims stand in the running claim before its rows
/// begin.
std::vector<E> row_scales(const OpeningSchedule& schedule);

/// The multilinear extension of the batch's weights where all variables are bound.
E weight_at(const ClaimBatch& batch, const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles,
            const BoundVariables& bound);

}  // namespace tessera
