#pragma once

#include "architecture/gpt2/inference.hpp"
#include "model/model.hpp"
#include "model/perplexity.hpp"

namespace tessera {

/// What inference reads of a model, which must outlive it. Throws std::invalid_argument naming the field if a shift, a
/// bias shift or a parameter's length is out of range.
IntegerModel integer_model(const Model& model);

/// Perplexity of the integer model: windows of n_positions tokens without overlap, token 0 of each not scored; logits
/// are exact, the soft-max over them is in float64. Collective.
Perplexity integer_perplexity(const IntegerModel& model, std::span<const std::uint32_t> ids, Communicator& comm,
                              const Progress& progress = {});

}  // namespace tessera
