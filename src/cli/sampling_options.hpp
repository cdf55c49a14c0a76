#pragma once

#include <optional>
#include <string>

#include <tessera/sampling.hpp>

#include "cluster/communicator.hpp"
#include "hash/blake2s.hpp"

namespace tessera::cli {

/// How tokens are drawn, as options say it.
struct SamplingOptions {
  std::optional<double> temperature;  // nothing, or 0: the arg-max
  std::uint32_t top_k = SamplingParameters{}.top_k;
  double top_p = 1, min_p = 0;
  std::string seed;     // 64 hexadecimal digits; empty: one is drawn
  std::string opening;  // what a published commitment is to, likewise: the seed is of both
  [[nodiscard]] bool samples() const { return temperature && *temperature != 0; }
};

/// What a statement says of them; the seed is 0 unless there is one. Throws InputError.
std::optional<Sampling> sampling_of(const SamplingOptions& options);

/// Draws a seed where there must be one and is none, on rank 0. Returns whether it did. Collective.
bool draw_seed(SamplingOptions& options, Communicator& comm);

}  // namespace tessera::cli
