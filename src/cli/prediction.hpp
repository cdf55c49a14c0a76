#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "architecture/ownership.hpp"
#include "base/units.hpp"
#include "cost/rates.hpp"
#include "cost/work.hpp"

namespace tessera::cli {

inline constexpr double files_bytes = 14 * mebibyte;  // tokenizer, key, libraries at work: whatever the model's size
/// Memory of a rank that has just begun, where none was measured.
inline constexpr double bare_process_bytes = 30 * mebibyte;

/// What a job will cost.
struct Prediction {
  JobShape job;
  std::vector<PhaseCost> phases;
  std::vector<OwnedDimension> ownership;
  std::optional<Rates> rates;
  std::optional<Network> network;
  std::string rates_machine, note;
  std::string refusal;  // why it cannot be proven; empty: it can

  [[nodiscard]] double seconds(const PhaseCost& phase) const {
    return rates ? seconds_of(phase, *rates, job, network) : 0;
  }
  [[nodiscard]] double communication(const PhaseCost& phase) const {
    return rates ? communication_seconds(phase, *rates, job, network) : 0;
  }
  [[nodiscard]] double process_bytes() const {
    return (rates ? rates->process_bytes : bare_process_bytes) + files_bytes;
  }
  [[nodiscard]] double memory() const {
    double most = 0;  // freed pages are kept for what comes later
    for (const PhaseCost& phase : phases) {
      most = std::max(most, phase.memory);
    }
    return most + process_bytes();
  }
  [[nodiscard]] double total(const auto& of) const {
    double sum = 0;
    for (const PhaseCost& phase : phases) {
      sum += of(phase);
    }
    return sum;
  }
};

/// The prediction as one JSON document.
std::string as_json(const Prediction& prediction, int threads);
/// Prints the prediction for a person: a summary in the first line, then phases, work, who owns what.
void print(const Prediction& prediction, int threads);

}  // namespace tessera::cli
