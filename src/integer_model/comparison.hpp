#pragma once

#include "float_model/float_model.hpp"
#include "integer_model/integer_model.hpp"

namespace tessera {

/// The integer model beside the float model that it comes from, over the same predictions.
struct Comparison {
  Perplexity integer, original;
  double divergence = 0;       // nats: sum of KL(original || integer) over the predictions
  std::size_t agreements = 0;  // predictions with the same likeliest token (the lowest id of equal ones)
  bool compared = false;       // there is a float model
};

/// Both models over windows of n_positions tokens without overlap, token 0 of each not scored. The integer model's
/// logits are exact, the soft-max over them is in float64. `original`: on rank 0 alone, or nullptr everywhere.
/// Collective.
Comparison compare_models(const IntegerModel& model, const FloatTransformer* original,
                          std::span<const std::uint32_t> ids, Communicator& comm, const Progress& progress = {});

}  // namespace tessera
