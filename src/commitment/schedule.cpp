#include <algorithm>
#include <cmath>
#include <stdexcept>
#include "commitment/opening.hpp"
#include "commitment/schedule.hpp"
#include "tensor/slots.hpp"

namespace tessera {
namespace {

/// Rates fall so that the code's domain shrinks; a first vector above 2^17 starts at 1/4 to spare the prover's
/// encoding.
constexpr unsigned large_vector = 17;

CommittedWord oracle_word(const CommittedOracle& oracle, unsigned grinding_bits) {
  const OracleParameters& parameters = oracle.parameters;
  const unsigned log_size = oracle.layout.log_size();
  const unsigned least_rows = oracle.extra > 0 ? 3 : 4;
  if (parameters.log_rows < least_rows || parameters.log_rows > OracleLayout::min_log_chunk ||
      parameters.log_inverse_rate < 1 || log_size < parameters.log_rows ||
      log_size - parameters.log_rows + parameters.log_inverse_rate > F::two_adicity) {
    throw std::invalid_argument("oracle parameters outside 4 <= log_rows <= 7, log_inverse_rate >= 1, domain <= 2^32");
  }
  return {.log_rows = parameters.log_rows,
          .log_columns = log_size - parameters.log_rows,
          .log_inverse_rate = parameters.log_inverse_rate,
          .positions = positions_for(parameters.log_inverse_rate, grinding_bits),
          .extra = oracle.extra};
}

}  // namespace

double position_bits(unsigned log_inverse_rate) {
  return 1.0 - std::log2(1.0 + std::exp2(-static_cast<double>(log_inverse_rate)));
}

double CommittedWord::bits() const { return static_cast<double>(positions) * position_bits(log_inverse_rate); }

std::span<const CommittedWord> OpeningSchedule::opened_in_round(std::size_t round) const {
  return round == 0 ? std::span(oracles) : std::span(vectors).subspan(round - 1, 1);
}

std::size_t positions_for(unsigned log_inverse_rate, unsigned grinding_bits) {
  const double needed = required_soundness_bits - grinding_bits;
  return needed <= 0 ? 1 : static_cast<std::size_t>(std::ceil(needed / position_bits(log_inverse_rate)));
}

OpeningSchedule opening_schedule(std::span<const CommittedOracle> oracles, unsigned grinding_bits) {
  OpeningSchedule schedule;
  schedule.grinding_bits = grinding_bits;
  std::vector<unsigned> log_columns;
  for (const CommittedOracle& oracle : oracles) {
    schedule.oracles.push_back(oracle_word(oracle, grinding_bits));
    log_columns.push_back(schedule.oracles.back().log_columns);
    schedule.row_variables = std::max(schedule.row_variables, schedule.oracles.back().log_rows);
  }
  const Slots slots = deal_slots(log_columns);
  for (std::size_t j = 0; j < oracles.size(); ++j) {
    schedule.oracles[j].offset = slots.first[j];
  }
  schedule.log_vector = ceil_log2(slots.used);

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

}  // namespace tessera
