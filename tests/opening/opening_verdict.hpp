#pragma once

#include <span>
#include <string>
#include <vector>

#include "opening/opening.hpp"

namespace tessera::test {

/// What transcripts of openings begin with.
inline const Digest opening_seed = blake2s({});
/// Where a false opening fails whose columns lead to the root.
inline constexpr const char* final_check = "the opening's final claim does not hold";

/// "" if accepted, else why not.
inline std::string opening_verdict(std::span<const std::uint8_t> payload, std::span<const CommittedOracle> oracles,
                                   const std::vector<std::vector<Claim>>& claims) {
  VerifierTranscript transcript(opening_seed, payload);
  try {
    verify_opening(transcript, oracles, claims);
    transcript.finish();
    return "";
  } catch (const Rejected& rejected) {
    return rejected.what();
  }
}

}  // namespace tessera::test
