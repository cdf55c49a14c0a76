#pragma once

#include "architecture/ownership.hpp"
#include "cluster/counting_communicator.hpp"
#include "datasets/dataset_file.hpp"
#include "plan/key.hpp"
#include "transcript/soundness.hpp"

namespace tessera {

inline constexpr std::string_view proof_format = "tessera proof";
inline constexpr std::uint64_t max_payload_bytes = std::uint64_t{1} << 26;
inline constexpr std::uint64_t max_proof_file_bytes = 2 * max_payload_bytes;

struct ScopeTiming {
  std::string scope;
  double seconds = 0;
  std::uint64_t peak_memory = 0;  // resident bytes of the largest rank while it ran; 0: not known
  friend bool operator==(const ScopeTiming&, const ScopeTiming&) = default;
};

/// What the proof was computed on. Never touches the payload.
struct MachineInfo {
  std::uint32_t ranks = 1;
  std::uint32_t threads = 1;      // of each rank
  std::uint64_t peak_memory = 0;  // bytes, of the largest rank
  friend bool operator==(const MachineInfo&, const MachineInfo&) = default;
};

/// What one rank measured itself.
struct RankInfo {
  std::string processor;                   // as the rank's kernel names it
  std::vector<double> seconds;             // by scope, in the order of ProofArchive::timings
  std::vector<std::uint64_t> peak_memory;  // likewise, resident bytes; 0: not known
  friend bool operator==(const RankInfo&, const RankInfo&) = default;
};

/// A proof file's content. Statement and payload are what the verifier judges, with the key; all the rest tells people
/// how the proof came to be, and nothing may rely on it.
struct ProofArchive {
  Statement statement;
  std::vector<std::uint8_t> payload;
  Digest key_digest{};        // of the key that the proof was made for: to say so if another one is used
  std::string text;           // prompt and continuation, decoded
  std::string configuration;  // all options as resolved, a JSON object
  SoundnessReport soundness;
  std::vector<ScopeTiming> timings;
  std::string memory_measure;  // what peak_memory of the timings is: ScopeMemory::measure()
  MachineInfo machine;
  std::vector<ScopeTraffic> communication;  // bytes for each of machine.ranks
  std::vector<OwnedDimension> ownership;    // first: machine.ranks + 1 entries
  std::vector<std::string> hosts;           // by rank
  std::vector<RankInfo> ranks;              // by rank; none in files of programs that did not measure them
};

/// Whether a file may hold the measures of so many ranks.
bool measures_fit(std::uint64_t ranks, std::uint64_t scopes);

/// The content of a file of format proof_format that may come from anyone; throws InputError. Lists are bounded:
/// payload <= 64 MiB, statement <= 4096 ids each, information <= a few MiB. Whether the proof is true is the verifier's
/// business.
ProofArchive read_proof(const DatasetFile& file);

}  // namespace tessera
