#pragma once

#include "architecture/inference.hpp"
#include "integer_model/model.hpp"
#include "float_model/perplexity.hpp"

namespace tessera {

/// The verifying key of a model, function tables and oracle parameters included; the root is filled in by the
/// commitment. Deterministic: depends on the model only. `hiding_proofs`: of a hiding key; then powers of equalisation
/// are zeros.
VerifyingKey make_verifying_key(const Model& model, std::uint64_t hiding_proofs = 0);

/// What inference reads of a model, which must outlive it. Throws InputError for a shape or exponents that are not
/// supported, std::invalid_argument naming a parameter whose extents are not the shape's.
IntegerModel integer_model(const Model& model);

/// Perplexity of the integer model: windows of n_positions tokens without overlap, token 0 of each not scored; logits
/// are exact, the soft-max over them is in float64. Collective.
Perplexity integer_perplexity(const IntegerModel& model, std::span<const std::uint32_t> ids, Communicator& comm,
                              const Progress& progress = {});

}  // namespace tessera
