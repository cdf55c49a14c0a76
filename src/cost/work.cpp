#include "cost/work.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "cluster/least_shared.hpp"
#include "commitment/compact_codeword.hpp"
#include "commitment/schedule.hpp"
#include "cost/encoding.hpp"
#include "cost/parts.hpp"
#include "lookup/fraction_tree.hpp"
#include "lookup/node_owners.hpp"
#include "protocol/protocol.hpp"

namespace tessera {
namespace {

constexpr double children_bytes = 64;  // of a node of the look-up's tree
constexpr double element_bytes = sizeof(E);
constexpr double pooled = 1.3;  // pages of the tree's levels that no other level fits in
constexpr std::size_t most_table_rounds = 13;

/// What folding v_0 into a class of positions takes, of a vector element's time: from simulations of 16 ranks.
constexpr double folded_element = 0.01;

double at(const Amounts& amounts, Work kind) { return amounts[static_cast<std::size_t>(kind)]; }

/// Weights of matrices on a rank: those of blocks, which every token meets, and those of the logits.
struct Matrices {
  double blocks = 0, logits = 0;
};

Matrices matrices(const Parts& parts) {
  Matrices result;
  const ModelShape& model = parts.plan().model;
  const std::vector<ParameterRow> table = parameter_table(model);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const bool vocabulary = table[i].rows == ParameterAxis::vocabulary;
    if (table[i].per_block && table[i].columns != ParameterAxis::none) {
      result.blocks += parts.parameter(i);
    } else if (vocabulary && (model.tied ? table[i].id == embedding : table[i].id == head)) {
      result.logits += parts.parameter(i);
    }
  }
  return result;
}

/// Bytes of q and k of the heads of which a rank has tiles, from who has them; nothing of a rank that is alone.
double heads_at_tiles(const Parts& parts) {
  const AttentionPlan& attention = parts.plan().attention;
  const auto ranks = static_cast<double>(parts.job().ranks);
  const auto bytes = [&](std::size_t heads, double tokens) {
    const auto all = static_cast<double>(heads);
    const double here = std::min(all, all / ranks + 1);  // tiles are distributed head by head
    return sizeof(std::int16_t) * here * static_cast<double>(attention.heads.size) * tokens;
  };
  const auto blocks = static_cast<double>(parts.plan().model.n_layer);
  const auto rows = static_cast<double>(parts.plan().padded_tokens);
  const auto keys = rows + static_cast<double>(parts.plan().past);
  return parts.alone() ? 0 : blocks * (bytes(attention.heads.query_heads(), rows) + bytes(attention.heads.heads, keys));
}

/// Tokens that teams share, and among how many ranks the smallest ones; none: 0 and 1.
struct Sharing {
  double tokens = 0, ranks = 1;
  /// A rank's share of work on all `of` tokens.
  [[nodiscard]] double part(double of) const { return (of - tokens + tokens / ranks) / of; }
};

Sharing sharing(const Parts& parts) {
  const ModelPlan& plan = parts.plan();
  if (!plan.has_teams(parts.job().ranks)) {
    return {};
  }
  const double ranks = parts.job().ranks;
  return {static_cast<double>(plan.prompt_length), std::floor(ranks / static_cast<double>(plan.shared_heads))};
}

/// Weights of q, k and v on a rank.
double head_weights(const Parts& parts) {
  double weights = 0;
  const std::vector<ParameterRow> table = parameter_table(parts.plan().model);
  for (std::size_t i = 0; i < table.size(); ++i) {
    weights += table[i].id == wq || table[i].id == wk || table[i].id == wv ? parts.parameter(i) : 0;
  }
  return weights;
}

PhaseCost inference(const Parts& parts, const Resident& memory) {
  const ModelPlan& plan = parts.plan();
  const ModelShape& model = plan.model;
  PhaseCost phase{.scope = "/inference"};
  const Matrices weights = matrices(parts);
  const auto generated = static_cast<double>(plan.generated);
  const auto tokens = static_cast<double>(plan.padded_tokens);
  const double steps = generated - 1;
  const double heads = parts.share(plan.shapes.block_row, {1}) * static_cast<double>(model.n_head);
  const double pairs = tokens * (static_cast<double>(plan.past) + tokens / 2);
  phase.work[std::size_t(Work::step_weight)] = weights.blocks * steps + weights.logits * generated;
  const Sharing shared = sharing(parts);
  // of a team the last rank's queries see most keys
  const double pairs_apart = pairs - shared.tokens * (static_cast<double>(plan.past) + shared.tokens / 2) +
                             shared.tokens / shared.ranks * (static_cast<double>(plan.past) + shared.tokens);
  phase.work[std::size_t(Work::batch_product)] =
      weights.blocks * (tokens - steps) - head_weights(parts) * shared.tokens * (1 - 1 / shared.ranks) +
      2 * static_cast<double>(model.n_layer * model.head_size()) * heads * (shared.tokens > 0 ? pairs_apart : pairs);
  // a head's values are recorded where the head is inferred, its scores where their tiles are
  const auto recorded = [&](const DeclaredTensor& tensor) {
    return tensor.ownership.deal == Deal::all
               ? parts.held(tensor.shape, Ownership{tensor.ownership.dimension}) * shared.part(tokens)
               : parts.held(tensor.shape, tensor.ownership);
  };
  for (const DeclaredTensor& tensor : plan.recorded) {
    phase.work[std::size_t(Work::recorded_value)] += recorded(tensor);
  }
  // gathered by every block: attention's output, both ends of the residual stream, the MLP's inner values
  const double batches = steps + 1 + std::ceil((tokens - steps) / 512);
  const double layers = static_cast<double>(model.n_layer);
  phase.calls = batches * (4 * layers + 2) + 2 * generated;
  for (const std::size_t width : {2 * model.query_features(), 2 * model.n_inner, 4 * model.n_embd, 4 * model.n_embd}) {
    const double row = layers * static_cast<double>(width);  // bytes of a token
    const bool large = static_cast<double>(width) * std::min(tokens - steps, 512.0) >= least_shared_bytes;
    gather_short(parts, row * (large ? steps : tokens), phase);
    if (large) {
      gather_shared(parts, row * (tokens - steps), phase);
    }
  }
  gather_short(parts, 4.0 * static_cast<double>(model.n_embd) * tokens, phase);
  // then they go to who proves them; scores are computed again
  for (const DeclaredTensor& tensor : plan.recorded) {
    if (tensor.ownership.deal == Deal::all) {
      const double proven = parts.held(tensor.shape, tensor.ownership);
      // of a team's columns few are a rank's own
      phase.bytes += tensor.bytes * (shared.tokens > 0 ? std::max(recorded(tensor), proven)
                                                       : std::max(0.0, recorded(tensor) - proven));
      phase.calls += parts.alone() ? 0 : 1;
    }
  }
  if (!parts.alone()) {
    const DeclaredTensor& scores = plan.recorded[plan.attention.score.recorded];
    phase.work[std::size_t(Work::batch_product)] +=
        parts.held(scores.shape, scores.ownership) * static_cast<double>(model.head_size());
    phase.bytes += heads_at_tiles(parts);
    phase.calls += 3;
  }
  if (shared.tokens > 0) {  // keys and values of teams, block by block
    const auto keys = static_cast<double>(model.key_features());
    gather_shared(parts, 2 * sizeof(std::int16_t) * layers * keys * shared.tokens, phase);
    phase.calls += layers * std::ceil(shared.tokens / 512);
  }
  // float64 copies of a batch, and of keys and values
  const double batch = std::min(tokens, 512.0);
  phase.memory = memory.parameters + memory.trace +
                 8 * (batch * static_cast<double>(model.n_embd + model.n_inner) +
                      2 * layers * static_cast<double>(model.key_features()) *
                          (static_cast<double>(plan.past) + tokens) / parts.job().ranks);
  return phase;
}

PhaseCost witness(const Parts& parts, const Resident& memory) {
  PhaseCost phase{.scope = "/witness"};
  for (std::size_t column = 0; column < parts.plan().lookup.columns.size(); ++column) {
    phase.work[std::size_t(Work::witness_value)] += parts.lookups(column);
  }
  for (const LookupTable& table : parts.plan().lookup.tables) {
    phase.bytes += parts.alone() ? 0 : 8 * power_of_two(table.log_size);
  }
  phase.calls = 9;
  phase.memory = memory.sum() + memory.largest_parameter;
  return phase;
}

PhaseCost commitment(const Parts& parts, const Resident& memory, double& kept) {
  const ModelPlan& plan = parts.plan();
  PhaseCost phase{.scope = "/commitment"};
  Encoding encoding = encoding_of(parts, plan.witness_layout, plan.witness_oracle, phase);
  kept = encoding.kept;
  double buffers = encoding.buffers;
  if (plan.pass.keeps) {
    encoding = encoding_of(parts, plan.state_layout, plan.state_oracle, phase);
    kept += encoding.kept;
    buffers = std::max(buffers, encoding.buffers);
  }
  phase.memory = memory.sum() + kept + buffers;
  return phase;
}

PhaseCost lookup(const Parts& parts, const Resident& memory, double kept) {
  const LookupStructure& structure = parts.plan().lookup;
  PhaseCost phase{.scope = "/lookup"};
  double integers = 0, nodes = 0;
  std::vector<bool> in_memory(structure.columns.size());  // committed pieces
  for (const RangeCheck& range : parts.plan().ranges) {
    for (std::size_t i = 0; i < range.committed.size(); ++i) {
      in_memory[range.columns[i]] = true;
    }
  }
  for (std::size_t c = 0; c < structure.columns.size(); ++c) {
    const LookupColumn& column = structure.columns[c];
    const LookupTable& table = structure.tables[column.table];
    const double lookups = parts.lookups(c);
    const bool short_chunks = column.shape.inner_bits() < least_integer_bits;
    const bool pairs = !table.values.empty();
    phase.work[std::size_t(short_chunks ? Work::table_row : pairs ? Work::pair_lookup : Work::range_lookup)] += lookups;
    integers += short_chunks || in_memory[c] ? 0 : lookups * (table.log_size > 16 ? 4 : 2);
    // all levels of stored fractions; of others those that are kept
    nodes += short_chunks ? lookups : lookups / power_of_two(kept_height - 1);
  }
  for (const LookupTable& table : structure.tables) {
    phase.work[std::size_t(Work::table_row)] += parts.of_ranks(power_of_two(table.log_size));
    nodes += parts.of_ranks(power_of_two(table.log_size));
  }
  const double levels = structure.slots().log_leaves;
  phase.work[std::size_t(Work::nonce)] = parts.of_ranks(power_of_two(structure.grinding_bits()));
  phase.work[std::size_t(Work::lookup_round)] = levels * (levels + 1) / 2;
  // a round's sums, and nodes that go to who has their parents or to all, when what is below them is bound, level by
  // level
  const NodeOwners owners(structure, parts.columns(), 0, parts.job().ranks);
  const double top = owners.top();
  double moved = 0;
  phase.calls = top * (top + 1) / 2 + 4;
  for (unsigned height = 1; height < owners.top(); ++height) {
    phase.calls += owners.any(height) ? height : 0;
    moved += static_cast<double>(owners.most(height)) * height;
  }
  moved += parts.from_others(static_cast<double>(owners.shared()) * top);
  phase.bytes = parts.alone() ? 0 : 32 * phase.calls + sizeof(SparseNode) * moved;
  phase.memory = memory.sum() + kept + integers + pooled * children_bytes * nodes;
  return phase;
}

/// The walk through the layers as an accounting verifier sees it: by top scope, sum-checks and claims.
struct Walk {
  std::vector<PhaseCost> phases;
  ClaimLedger ledger;
};

Walk walk_layers(const Parts& parts) {
  const ModelPlan& plan = parts.plan();
  Walk result{{}, ClaimLedger(plan.pass)};
  ClaimLedger& ledger = result.ledger;
  AccountingTranscript transcript;
  const LookupValues values(plan, verify_lookup(transcript, plan.lookup));
  values.add_claims(ledger);
  std::array<std::size_t, 2> seen{ledger[parameter_oracle].size(), ledger[witness_oracle].size()};
  const auto ends = [&](std::string_view path) {
    if (path.find('/', 1) != std::string_view::npos) {
      return;
    }
    PhaseCost phase{.scope = std::string(path)};
    const auto& parameters = ledger[parameter_oracle];
    for (; seen[0] < parameters.size(); ++seen[0]) {
      phase.work[std::size_t(Work::parameter_claim)] += parts.parameter(parameters[seen[0]].tensor);
    }
    const auto& committed = ledger[witness_oracle];
    for (; seen[1] < committed.size(); ++seen[1]) {
      phase.work[std::size_t(Work::value_claim)] += parts.witness(committed[seen[1]].tensor);
    }
    result.phases.push_back(std::move(phase));
  };
  Transcript::Listener listener;
  listener.ends = ends;
  transcript.set_listener(listener);
  const Statement statement = statement_of(plan.pass);
  VerifierContext<E> context{plan, statement, transcript, values, ledger};
  walk(context, plan);
  for (const Account::Sumcheck& sumcheck : transcript.account().sumchecks) {
    for (PhaseCost& phase : result.phases) {
      if (sumcheck.path == phase.scope || sumcheck.path.starts_with(phase.scope + "/")) {
        phase.work[std::size_t(Work::sumcheck_element)] +=
            parts.of_ranks(power_of_two(static_cast<unsigned>(sumcheck.rounds)));
        phase.work[std::size_t(Work::layer_round)] += static_cast<double>(sumcheck.rounds);
        // small ones are over tables that are contracted, hence summed over all ranks
        if (sumcheck.rounds <= most_table_rounds && !parts.alone()) {
          phase.bytes += 1.5 * element_bytes * power_of_two(static_cast<unsigned>(sumcheck.rounds));
        }
      }
    }
  }
  return result;
}

void finish_layer(const Parts& parts, const Resident& memory, double kept, PhaseCost& phase) {
  const double elements = at(phase.work, Work::sumcheck_element);
  phase.calls = 2 + 0.66 * at(phase.work, Work::layer_round);  // rounds over chunks, and contractions
  phase.bytes += parts.alone() ? 0 : 48 * phase.calls;
  if (phase.scope == "/self_attention") {
    phase.bytes += heads_at_tiles(parts);
  }
  phase.memory = memory.sum() + kept + 2 * element_bytes * std::min(elements, 1.0e6);
}

PhaseCost opening(const Parts& parts, const OracleParameters& parameter_oracle, const ClaimLedger& ledger,
                  const Resident& memory, double kept) {
  const ModelPlan& plan = parts.plan();
  PhaseCost phase{.scope = "/opening"};
  const auto add = [&](Work kind, double amount) { phase.work[std::size_t(kind)] += amount; };
  for (const auto& claim : ledger[OracleId::parameter_oracle]) {
    add(Work::opened_value, parts.parameter(claim.tensor));
  }
  for (const auto& claim : ledger[witness_oracle]) {
    add(Work::opened_value, parts.witness(claim.tensor));
  }
  std::vector<CommittedOracle> oracles{{plan.parameter_layout, parameter_oracle, {}, plan.hiding ? salt_elements : 0},
                                       {plan.witness_layout, plan.witness_oracle, {}, plan.hiding ? salt_elements : 0}};
  for (int side = 0; side < (plan.past > 0 ? 1 : 0) + (plan.pass.keeps ? 1 : 0); ++side) {
    oracles.push_back({plan.state_layout, plan.state_oracle, {}});
  }
  const OpeningSchedule schedule = opening_schedule(oracles);
  // of v_0, which ranks share: where they have several classes of columns each, with the zeros behind what is used
  const double vector =
      (std::has_single_bit(static_cast<unsigned>(parts.job().ranks)) ? static_cast<double>(schedule.table_size(0))
                                                                     : power_of_two(schedule.log_vector)) /
      parts.job().ranks;
  add(Work::vector_element, vector);
  add(Work::opening, 1);
  add(Work::nonce,
      parts.of_ranks(power_of_two(schedule.grinding_bits)) * static_cast<double>(schedule.vectors.size() + 1));
  for (std::size_t round = 0; round <= schedule.vectors.size(); ++round) {
    if (const unsigned bits = schedule.row_work(round); bits > 0) {
      add(Work::nonce, parts.of_ranks(power_of_two(bits)) * schedule.row_challenges(round));
    }
  }
  double integers = 0;  // bytes: of what is recomputed, to who has their residue
  for (std::size_t j = 0; j < oracles.size(); ++j) {
    const double elements =
        power_of_two(oracles[j].layout.log_size() + oracles[j].parameters.log_inverse_rate) / parts.job().ranks;
    const bool in_memory = elements * sizeof(F) <= static_cast<double>(parts.job().codeword_budget);
    const bool recomputed = j == 0 ? parts.job().compact : j == 1 ? !in_memory : j == 2 && plan.past > 0;
    add(Work::recomputed_element, recomputed ? elements : 0);
    integers += recomputed ? 2 * parts.of_ranks(static_cast<double>(oracles[j].layout.used())) : 0;
  }
  phase.calls = 32 + static_cast<double>(schedule.log_vector);
  // v_0's values to who has their columns, then its rows for encoding; v_1 with its weights to who has its columns, and
  // again its rows
  if (!parts.alone()) {
    const double whole = element_bytes * vector * parts.job().ranks;
    phase.bytes = parts.from_others(element_bytes * vector) + parts.from_others(integers);
    gather_shared(parts, whole + 3 * whole / 16, phase);
    add(Work::vector_element, folded_element * classes_of(parts) * whole / element_bytes);
  }
  const double nodes = static_cast<double>(compact_nodes(plan.parameter_layout, parameter_oracle));
  const double tree = parts.job().compact ? 2 * sizeof(Digest) * nodes : 0;
  // both tables of the sum, their first half bound, a word of the next vector
  phase.memory = memory.sum() + kept + tree + 3.25 * element_bytes * vector;
  return phase;
}

}  // namespace

std::string_view name_of(Work kind) {
  constexpr std::array<std::string_view, work_kinds> names{"weights, token by token",
                                                           "products, tokens together",
                                                           "recorded values",
                                                           "witness values",
                                                           "codeword elements",
                                                           "range look-ups",
                                                           "pair look-ups",
                                                           "table rows",
                                                           "look-up rounds",
                                                           "weights under claims",
                                                           "values under claims",
                                                           "sum-check elements",
                                                           "rounds of layers",
                                                           "values opened",
                                                           "vector elements",
                                                           "elements recomputed",
                                                           "openings",
                                                           "nonces",
                                                           "checks"};
  return names[static_cast<std::size_t>(kind)];
}

std::vector<PhaseCost> proof_cost(const ModelPlan& plan, const OracleParameters& parameter_oracle,
                                  const JobShape& job) {
  const Parts parts(plan, job);
  const Resident memory = resident(parts);
  std::vector<PhaseCost> phases{inference(parts, memory), witness(parts, memory)};
  double kept = 0;
  phases.push_back(commitment(parts, memory, kept));
  phases.push_back(lookup(parts, memory, kept));
  Walk layers = walk_layers(parts);
  for (PhaseCost& phase : layers.phases) {
    finish_layer(parts, memory, kept, phase);
    phases.push_back(std::move(phase));
  }
  phases.push_back(opening(parts, parameter_oracle, layers.ledger, memory, kept));
  PhaseCost check{.scope = "/check"};
  check.work[std::size_t(Work::check)] = 1;
  check.memory = memory.sum();
  phases.push_back(check);
  return phases;
}

}  // namespace tessera
