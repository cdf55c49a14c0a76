#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tessera/statement.hpp>

namespace tessera {

/// What people say of sampling; a statement holds integers instead (Sampling).
struct SamplingParameters {
  double temperature = 1;
  std::uint32_t top_k = 0;  // 0: tokens are drawn from the whole vocabulary
  double top_p = 1;         // leaves nothing out
  double min_p = 0;         // leaves nothing out
};

/// The integers that stand for the parameters; throws InputError naming one that is out of its range, or a top_p
/// without a top_k. The seed is 0.
Sampling make_sampling(const SamplingParameters& parameters);
/// The shortest decimal numbers that these integers stand for.
SamplingParameters parameters_of(const Sampling& sampling);

/// "temperature=0.7,top_k=40,top_p=0.95,min_p=0.05": all but the seed; what leaves nothing out does not stand in it, so
/// that a text without top_k says that tokens are drawn from the whole vocabulary.
std::string sampling_text(const Sampling& sampling);
/// What such a text says; what does not stand in it has SamplingParameters' value. Nothing for "temperature=0": the
/// arg-max. Throws InputError.
std::optional<Sampling> parse_sampling(std::string_view text);

}  // namespace tessera
