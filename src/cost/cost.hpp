#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "architecture/model_plan.hpp"

namespace tessera {

/// The parts of a proof whose time each follows one count.
enum class Phase : std::uint8_t { inference, witness, commitment, lookup, layers, opening, check };
inline constexpr std::size_t phase_count = 7;
using ByPhase = std::array<double, phase_count>;

/// As scopes of a proof are called ("lookup"); `layers` stands for the scopes of all layers.
std::string_view name_of(Phase phase);
/// What is counted in it ("look-ups").
std::string_view unit_of(Phase phase);
/// The phase of an outermost scope ("/lookup"); nothing for other scopes.
std::optional<Phase> phase_of(std::string_view scope);

/// What a job runs on.
struct JobShape {
  int ranks = 1;
  int nodes = 1;
  int threads = 1;                  // of each rank
  bool compact = false;             // the parameters' opened columns are computed again
  std::size_t codeword_budget = 0;  // bytes a rank, see default_codeword_budget
};

/// What a proof takes of the rank that has most to do.
struct JobCost {
  ByPhase amounts{};  // of what unit_of() says
  // bytes, without what a process needs for itself
  double parameters = 0;
  double activations = 0;  // recorded and derived tensors, committed pieces, states
  double codewords = 0;    // trees, and columns that are kept
  double working = 0;      // of the phase that takes most beside these
  [[nodiscard]] double memory() const { return parameters + activations + codewords + working; }
};

/// Counts what the plan declares: parameters, tensors, look-up columns, words of the opening and claims. How an
/// algorithm does its work is in none of it.
JobCost cost_of(const ModelPlan& plan, const VerifyingKey& key, const JobShape& job);

}  // namespace tessera
