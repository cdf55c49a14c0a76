#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "architecture/model_plan.hpp"

namespace tessera {

/// What a prover's time goes into. A unit's name says what one is.
enum class Work : std::uint8_t {
  step_weight,         ///< a weight read for one token alone, as each generated one is
  batch_product,       ///< a product of an activation with a weight or another activation, of a batch of tokens
  recorded_value,      ///< an integer that inference records
  witness_value,       ///< a look-up counted; values that it is made of
  codeword_element,    ///< an element of F of an oracle's codeword: encoded, hashed
  range_lookup,        ///< a look-up in a range table
  pair_lookup,         ///< a look-up in a table with values
  table_row,           ///< a row of a look-up table
  lookup_round,        ///< a round of the look-up's sum-checks
  parameter_claim,     ///< a weight under a claim, read once for each
  value_claim,         ///< an activation under a claim
  sumcheck_element,    ///< a place of a layer's sum-check
  layer_round,         ///< a round of those
  opened_value,        ///< an integer under a claim of the opening, rows combined
  vector_element,      ///< an element of E of the vectors of the opening
  recomputed_element,  ///< an element of an oracle whose opened columns are computed again
  opening,             ///< an opening: work that does not depend on sizes
  nonce,               ///< a nonce tried (proof of work)
  check,               ///< a verification
  count
};
inline constexpr std::size_t work_kinds = static_cast<std::size_t>(Work::count);
std::string_view name_of(Work kind);

/// Amounts by Work; doubles, as they are sums of estimates.
using Amounts = std::array<double, work_kinds>;

/// What a job runs on.
struct JobShape {
  int ranks = 1;
  int nodes = 1;
  bool compact = false;             // the parameters' opened columns are computed again
  std::size_t codeword_budget = 0;  // bytes a rank, see default_codeword_budget
  [[nodiscard]] int ranks_on_node() const { return (ranks + nodes - 1) / nodes; }
  /// How many bytes one rank receives of those that all ranks gather in memory which the ranks of a node share.
  [[nodiscard]] double received_of_shared(double bytes) const {
    return ranks_on_node() > 1 ? bytes * (nodes - 1) / nodes / ranks_on_node() : bytes * (ranks - 1) / ranks;
  }
};

/// One scope of a proof ("/inference", "/lookup", ..) on the rank that has most to do.
struct PhaseCost {
  std::string scope;
  Amounts work{};
  double calls = 0;    // collective calls
  double bytes = 0;    // received by that rank
  double shown = 0;    // of them from ranks of the same node, in memory that they share
  double shared = 0;   // gathered by all ranks in memory that nodes share; what is received of it is among `bytes`
  double relayed = 0;  // received by one rank of a node, for all of them to read: those are among `shown`
  double memory = 0;   // bytes while it runs, without what the process needs for itself
};

/// Everything that a proof of the plan's statements costs, phase by phase in the order of the proof: a function of the
/// plan, hence of the tensors and look-ups that the layers declare, and of the accounting verifier's sum-checks and
/// claims.
std::vector<PhaseCost> proof_cost(const ModelPlan& plan, const OracleParameters& parameter_oracle, const JobShape& job);

}  // namespace tessera
