#pragma once

#include <tessera/sampling.hpp>

#include "cli/json_output.hpp"
#include "datasets/dataset_file.hpp"

namespace tessera::cli {

/// What a statement says of how tokens are drawn; null of the arg-max.
inline Json sampling_json(const std::optional<Sampling>& sampling) {
  if (!sampling) {
    return {};
  }
  const SamplingParameters parameters = parameters_of(*sampling);
  return {{"text", sampling_text(*sampling)}, {"temperature", parameters.temperature},
          {"top_k", parameters.top_k},        {"top_p", parameters.top_p},
          {"min_p", parameters.min_p},        {"seed", to_hex(sampling->seed)}};
}

}  // namespace tessera::cli
