#include "cost/cost.hpp"

#include <algorithm>
#include <cmath>

#include "opening/schedule.hpp"
#include "hash/merkle_tree.hpp"
#include "protocol/protocol.hpp"

namespace tessera {
namespace {

constexpr double value_products = 128;  // what recording a value takes, in products
constexpr double encoded_bytes = 64;    // of a position while rows are encoded: a block of the hash; twice if exchanged
constexpr double leaf_bytes = 7;        // of a look-up: the nodes of its tree that are kept, and its integer
constexpr double vector_bytes = 3 * 16;  // of a value of the opening's first vector: two tables, halves of them

double cells(const Shape& shape) {
  return static_cast<double>(shape.chunk_count()) * static_cast<double>(shape.chunk_size());
}

/// Sizes of a plan as the rank with the largest share sees them.
class Shares {
 public:
  Shares(const ModelPlan& plan, int ranks) : plan_(plan), ranks_(ranks) {}

  [[nodiscard]] double even(double whole) const { return whole / ranks_; }
  [[nodiscard]] double held(const Shape& shape, const Ownership& ownership) const {
    if (ownership.dimension == Ownership::replicated) {
      return cells(shape);
    }
    const auto parts = static_cast<double>(ownership.parts(shape));
    return cells(shape) * std::ceil(parts / ranks_) / parts;
  }
  /// What layers make themselves is taken to be distributed evenly.
  [[nodiscard]] double held(const Shape& shape, const Source& source) const {
    const auto& declared = source.kind == Source::Kind::recorded ? plan_.recorded : plan_.derived;
    const Ownership ownership = source.kind == Source::Kind::layer ? Ownership{} : declared[source.number].ownership;
    return ownership.dimension == Ownership::replicated ? even(cells(shape)) : held(shape, ownership);
  }
  [[nodiscard]] double witness(TensorId tensor) const {
    return tensor < plan_.witness_shapes.size()
               ? held(plan_.witness_shapes[tensor], plan_.witness_sources[tensor])
               : even(cells(plan_.witness_layout.tensors()[tensor]));  // what a hiding proof has beside
  }

 private:
  const ModelPlan& plan_;
  double ranks_;
};

/// Parameters and activations; products of weights with the activations of every row that inference runs, of queries
/// with keys and of their weights with values.
void add_tensors(const ModelPlan& plan, const Shares& shares, JobCost& cost) {
  double& products = cost.amounts[std::size_t(Phase::inference)];
  for (const ParameterRow& row : parameter_table(plan.model)) {
    const double values = shares.held(row.oracle_shape(plan.model, plan.division), row.ownership());
    cost.parameters += sizeof(std::int16_t) * values;
    products += values * (row.columns == ParameterAxis::none ? 0
                          : row.per_block                    ? cells(plan.shapes.token)
                          : row.id == plan.logits.embedding  ? static_cast<double>(plan.generated)
                                                             : 0);
  }
  const DeclaredTensor& scores = plan.recorded[plan.attention.score.recorded];
  products += 2 * static_cast<double>(plan.model.head_size()) * shares.held(scores.shape, scores.ownership);
  for (const DeclaredTensor& tensor : plan.recorded) {
    const double values = shares.held(tensor.shape, tensor.ownership);
    cost.activations += tensor.bytes * values;
    products += value_products * values;
  }
  for (const DeclaredTensor& tensor : plan.derived) {
    cost.activations += tensor.bytes * shares.held(tensor.shape, tensor.ownership);
  }
  for (std::size_t i = 0; i < plan.witness_shapes.size(); ++i) {  // pieces
    cost.activations += plan.witness_sources[i].kind == Source::Kind::layer ? 2 * shares.witness(i) : 0;
  }
  for (const TensorId counts : plan.multiplicities) {
    cost.activations += sizeof(std::int64_t) * cells(plan.witness_shapes[counts]);
  }
}

/// Look-ups, and rows of tables.
double leaves(const ModelPlan& plan, const Shares& shares) {
  double result = 0;
  for (const RangeCheck& range : plan.ranges) {
    result += static_cast<double>(range.pieces()) * shares.held(range.shape, range.source);
  }
  for (const PairLookup& pair : plan.pairs) {
    result += shares.held(pair.shape, plan.witness_sources[pair.output]);
  }
  for (const TensorId counts : plan.multiplicities) {
    result += shares.even(cells(plan.witness_shapes[counts]));
  }
  return result;
}

double positions(const CommittedWord& word) { return static_cast<double>(word.domain().points()); }

/// Points of a word on the rank that has most: whole pieces, or evenly.
double positions_of_rank(const CommittedWord& word, const Shares& shares, int ranks) {
  const WordDomain domain = word.domain();
  const std::size_t pieces = (domain.pieces() + static_cast<std::size_t>(ranks) - 1) / static_cast<std::size_t>(ranks);
  return domain.whole() ? shares.even(positions(word)) : static_cast<double>(pieces << domain.log_piece());
}

/// The words that the job makes, or makes again, and what the opening reads of them.
void add_words(const ModelPlan& plan, const VerifyingKey& key, const JobShape& job, const Shares& shares,
               JobCost& cost) {
  const std::vector<CommittedOracle> oracles = committed_oracles(plan, key, statement_of(plan.pass), {});
  const OpeningSchedule schedule = opening_schedule(oracles);
  double opened = 0;
  for (std::size_t j = 0; j < oracles.size(); ++j) {
    const CommittedWord& word = schedule.oracles[j];
    const double points = positions_of_rank(word, shares, job.ranks);
    const double values = static_cast<double>(word.leaf_values()) * points;
    const auto used = static_cast<double>(oracles[j].layout.used());
    const bool given = j == parameter_oracle || (j == past_oracle && plan.past > 0);
    const bool kept = !given && word.domain().whole() && values * sizeof(F) <= static_cast<double>(job.codeword_budget);
    opened += shares.even(used) + ((j == parameter_oracle ? job.compact : !kept) ? values : 0);
    cost.activations += j < past_oracle ? 0 : sizeof(std::int16_t) * shares.even(used);  // states
    if (!given) {
      cost.amounts[std::size_t(Phase::commitment)] += values;
      cost.codewords += sizeof(Digest) * points + (kept ? sizeof(F) * values : 0);
      cost.working = std::max(cost.working, (job.ranks > 1 ? 2 : 1) * encoded_bytes * points);
    }
  }
  for (const CommittedWord& vector : schedule.vectors) {
    opened += shares.even(static_cast<double>(vector.leaf_values()) * positions(vector));
  }
  cost.amounts[std::size_t(Phase::opening)] = opened;
  cost.working = std::max(cost.working, vector_bytes * shares.even(static_cast<double>(schedule.table_size(0))));
}

using PhaseNames = std::pair<std::string_view, std::string_view>;  // as scope, of what is counted
constexpr std::array<PhaseNames, phase_count> names{{{"inference", "products, 128 for each recorded value"},
                                                     {"witness", "look-ups and table rows"},
                                                     {"commitment", "codeword elements"},
                                                     {"lookup", "look-ups and table rows"},
                                                     {"layers", "committed values under claims"},
                                                     {"opening", "elements opened or encoded"},
                                                     {"check", "verifications"}}};

}  // namespace

std::string_view name_of(Phase phase) { return names[std::size_t(phase)].first; }
std::string_view unit_of(Phase phase) { return names[std::size_t(phase)].second; }

std::optional<Phase> phase_of(std::string_view scope) {
  if (scope.size() < 2 || scope.find('/', 1) != std::string_view::npos) {
    return std::nullopt;
  }
  const auto found = std::ranges::find(names, scope.substr(1), &PhaseNames::first);
  return found == names.end() ? Phase::layers : static_cast<Phase>(found - names.begin());
}

JobCost cost_of(const ModelPlan& plan, const VerifyingKey& key, const JobShape& job) {
  const Shares shares(plan, job.ranks);
  JobCost cost;
  add_tensors(plan, shares, cost);
  add_words(plan, key, job, shares, cost);
  const double looked_up = leaves(plan, shares);
  cost.amounts[std::size_t(Phase::witness)] = cost.amounts[std::size_t(Phase::lookup)] = looked_up;
  cost.working = std::max(cost.working, leaf_bytes * looked_up);
  for (const StatementAccount account = account_of(plan, key); const auto& claim : account.ledger[witness_oracle]) {
    cost.amounts[std::size_t(Phase::layers)] += shares.witness(claim.tensor);
  }
  cost.amounts[std::size_t(Phase::check)] = 1;
  return cost;
}

}  // namespace tessera
