#pragma once

#include <optional>
#include <string>
#include <vector>

#include "architecture/ownership.hpp"
#include "base/units.hpp"
#include "cost/rates.hpp"

namespace tessera::cli {

inline constexpr double files_bytes = 14 * mebibyte;  // tokenizer, key, libraries at work: whatever the model's size
/// Memory of a rank that has just begun, where none was measured.
inline constexpr double bare_process_bytes = 30 * mebibyte;

/// What a job will cost.
struct Prediction {
  JobShape job;
  JobCost cost;
  std::vector<OwnedDimension> ownership;
  std::optional<Rates> rates;
  std::string rates_machine, note;
  std::string refusal;  // why it cannot be proven; empty: it can

  /// What a rank takes in a job of any number of ranks.
  [[nodiscard]] double process_bytes() const {
    return (rates ? rates->process_bytes : bare_process_bytes) + files_bytes;
  }
  [[nodiscard]] double memory() const { return cost.memory() + process_bytes(); }
};

/// "2 ranks of 4 threads on 1 machine".
std::string job_text(int ranks, int threads, int nodes);
/// The prediction as one JSON document.
std::string as_json(const Prediction& prediction);
/// Prints the prediction for a person: a summary in the first line, then time, memory, who owns what.
void print(const Prediction& prediction);

}  // namespace tessera::cli
