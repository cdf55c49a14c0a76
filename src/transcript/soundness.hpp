#pragma once

#include <string>
#include <vector>

namespace tessera {

/// One round of the protocol in the soundness report: `bits` = -log2 of the round's error, grinding included.
struct SoundnessEntry {
  std::string scope;
  std::string reason;
  double bits = 0;
};

struct SoundnessReport {
  std::vector<SoundnessEntry> entries;
  /// Round-by-round: the least of the entries.
  [[nodiscard]] double round_by_round_bits() const;
  /// -log2 of the sum of all errors.
  [[nodiscard]] double union_bits() const;
};

/// Every supported statement has at least this round-by-round soundness; others are refused.
inline constexpr double required_soundness_bits = 100.0;

}  // namespace tessera
