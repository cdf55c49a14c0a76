#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include "commitment/opening.hpp"
#include "commitment/schedule.hpp"

namespace tessera {
namespace {

/// Rates fall so that the code's domain shrinks; a first vector above 2^17 starts at 1/4 to spare the prover's
/// encoding.
constexpr unsigned large_vector = 17;

double field_bits() { return 2 * std::log2(static_cast<double>(F::modulus)); }

double query_bits(unsigned log_inverse_rate) {
  return 1.0 - std::log2(1.0 + std::exp2(-static_cast<double>(log_inverse_rate)));
}

CommittedWord oracle_word(const CommittedOracle& oracle, unsigned grinding_bits) {
  const OracleParameters& parameters = oracle.parameters;
  const unsigned log_size = oracle.layout.log_size();
  if (parameters.log_rows < 4 || parameters.log_rows > OracleLayout::min_log_chunk || parameters.log_inverse_rate < 1 ||
      log_size < parameters.log_rows || log_size - parameters.log_rows + parameters.log_inverse_rate > F::two_adicity) {
    throw std::invalid_argument("oracle parameters outside 4 <= log_rows <= 7, log_inverse_rate >= 1, domain <= 2^32");
  }
  return {.log_rows = parameters.log_rows,
          .log_columns = log_size - parameters.log_rows,
          .log_inverse_rate = parameters.log_inverse_rate,
          .positions = positions_for(parameters.log_inverse_rate, grinding_bits)};
}

}  // namespace

std::span<const CommittedWord> OpeningSchedule::opened_in_round(std::size_t round) const {
  return round == 0 ? std::span(oracles) : std::span(vectors).subspan(round - 1, 1);
}

std::size_t positions_for(unsigned log_inverse_rate, unsigned grinding_bits) {
  const double needed = required_soundness_bits - grinding_bits;
  return needed <= 0 ? 1 : static_cast<std::size_t>(std::ceil(needed / query_bits(log_inverse_rate)));
}

OpeningSchedule opening_schedule(std::span<const CommittedOracle> oracles, unsigned grinding_bits) {
  OpeningSchedule schedule;
  schedule.grinding_bits = grinding_bits;
  for (const CommittedOracle& oracle : oracles) {
    schedule.oracles.push_back(oracle_word(oracle, grinding_bits));
    schedule.row_variables = std::max(schedule.row_variables, schedule.oracles.back().log_rows);
  }
  std::vector<std::size_t> order(oracles.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return schedule.oracles[a].log_columns > schedule.oracles[b].log_columns;
  });
  std::size_t used = 0;
  for (const std::size_t j : order) {  // larger first: aligned, because sizes are descending powers of two
    schedule.oracles[j].offset = used;
    used += std::size_t{1} << schedule.oracles[j].log_columns;
  }
  schedule.log_vector = ceil_log2(used);

  unsigned remaining = schedule.log_vector;
  unsigned log_inverse_rate = remaining > large_vector ? 2 : 3;
  while (remaining > OpeningSchedule::max_log_clear) {
    remaining -= OpeningSchedule::folding;
    schedule.vectors.push_back({.log_rows = OpeningSchedule::folding,
                                .log_columns = remaining,
                                .log_inverse_rate = log_inverse_rate,
                                .positions = positions_for(log_inverse_rate, grinding_bits),
                                .extension = true});
    log_inverse_rate += remaining > large_vector - OpeningSchedule::folding ? 2 : 3;
  }
  schedule.log_clear = remaining;
  return schedule;
}

std::vector<SoundnessEntry> schedule_soundness(const OpeningSchedule& schedule, std::size_t claims) {
  std::vector<SoundnessEntry> entries;
  const auto add_field = [&](const std::string& reason, double numerator) {
    entries.push_back({"/opening", reason, field_bits() - std::log2(std::max(1.0, numerator))});
  };
  add_field("batching of " + std::to_string(claims) + " claims", static_cast<double>(claims));
  const auto domain_sum = [](std::span<const CommittedWord> words) {
    return std::accumulate(words.begin(), words.end(), 0.0,
                           [](double sum, const CommittedWord& w) { return sum + std::exp2(w.log_domain()); });
  };
  for (std::size_t round = 0; round <= schedule.vectors.size(); ++round) {
    const std::span<const CommittedWord> words = schedule.opened_in_round(round);
    const std::string name = "round " + std::to_string(round);
    // counted together, so that the sum of all entries bounds the whole error
    const unsigned variables = round == 0 ? schedule.row_variables : OpeningSchedule::folding;
    add_field(name + ": " + std::to_string(variables) + " bound row variables (sum-check and proximity)",
              variables * (2.0 + domain_sum(words)));
    std::size_t positions = 0;
    for (const CommittedWord& word : words) {
      entries.push_back(
          {"/opening",
           name + ": " + std::to_string(word.positions) + " positions at rate 1/" +
               std::to_string(std::size_t{1} << word.log_inverse_rate),
           static_cast<double>(word.positions) * query_bits(word.log_inverse_rate) + schedule.grinding_bits});
      positions += word.positions;
    }
    if (round < schedule.vectors.size()) {
      add_field(name + ": batching of bound columns", static_cast<double>(positions));
    }
  }
  add_field("final sum-check, " + std::to_string(schedule.log_clear) + " variables",
            2.0 * std::max(1U, schedule.log_clear));
  return entries;
}

std::size_t expected_opening_bytes(const OpeningSchedule& schedule) {
  std::size_t bytes = schedule.row_variables * 2 * sizeof(E) + schedule.log_vector * 2 * sizeof(E);
  for (std::size_t round = 0; round <= schedule.vectors.size(); ++round) {
    bytes += sizeof(Digest) + sizeof(std::uint64_t);
    for (const CommittedWord& word : schedule.opened_in_round(round)) {
      const auto positions = static_cast<double>(word.positions);
      double siblings = 0;
      double distinct = 0;
      for (unsigned level = 0; level < word.log_domain(); ++level) {
        const double nodes = std::exp2(word.log_domain() - level);
        const double hit = nodes * -std::expm1(positions * std::log1p(-1.0 / nodes));
        const double parents = nodes / 2 * -std::expm1(positions * std::log1p(-std::min(1.0, 2.0 / nodes)));
        distinct = level == 0 ? hit : distinct;
        siblings += 2 * parents - hit;
      }
      bytes += static_cast<std::size_t>(distinct * static_cast<double>(word.leaf_values() * sizeof(F)) +
                                        siblings * sizeof(Digest));
    }
  }
  return bytes + (sizeof(E) << schedule.log_clear) - sizeof(Digest);
}

std::vector<SoundnessEntry> opening_soundness(std::span<const CommittedOracle> oracles, std::size_t claims) {
  return schedule_soundness(opening_schedule(oracles), claims);
}

}  // namespace tessera
