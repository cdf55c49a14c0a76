#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include "opening/opening.hpp"
#include "opening/schedule.hpp"

namespace tessera {
namespace {

/// A first vector above 2^17 has a rate of at most 1/3, to spare the prover's encoding, a shorter one of 3/20.
constexpr unsigned large_vector = 17;
/// Domains shrink by 2 bits a round, and by one from 2^13 columns on, where more positions would cost more.
constexpr unsigned short_vector = 13;
/// Segments begin at multiples of this where they are as long: ranks share v_0 by columns modulo their number.
constexpr unsigned log_share = 12;

CommittedWord oracle_word(const CommittedOracle& oracle) {
  const OracleParameters& parameters = oracle.parameters;
  const unsigned least_rows = oracle.extra > 0 ? 3 : 4;
  const auto fits = [&] {
    return parameters.log_inverse_rate >= 1 &&
           oracle.layout.log_columns(parameters) <=
               F::two_adicity - std::min(F::two_adicity, parameters.log_inverse_rate) &&
           oracle.layout.domain(parameters).valid();
  };
  if (parameters.log_rows < least_rows || parameters.log_rows > most_log_rows || !has_rows(parameters) || !fits()) {
    throw std::invalid_argument(
        "oracle parameters outside 4 <= log_rows <= 7, log_inverse_rate >= 1, domain <= 2^32, "
        "fewer than half of its pieces absent");
  }
  return {.log_rows = parameters.log_rows,
          .absent = parameters.absent_rows,
          .absent_pieces = parameters.absent_pieces,
          .log_columns = oracle.layout.log_columns(parameters),
          .log_inverse_rate = parameters.log_inverse_rate,
          .columns = std::uint64_t{oracle.layout.columns(parameters)},
          .extra = oracle.extra};
}

/// Where the words lie in v_0: those that need the most alignment first, each at the next multiple of its own, so that
/// no chunk of a layout is at a place that is no multiple of the chunk's size. Returns v_0's size.
std::uint64_t deal_segments(std::span<const CommittedOracle> oracles, std::span<CommittedWord> words) {
  std::vector<unsigned> alignment;
  for (std::size_t j = 0; j < words.size(); ++j) {
    alignment.push_back(
        std::max(oracles[j].layout.log_most_columns(oracles[j].parameters), std::min(words[j].log_columns, log_share)));
  }
  std::vector<std::size_t> order(words.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return alignment[a] > alignment[b]; });
  std::uint64_t end = 0;
  for (const std::size_t j : order) {
    const std::uint64_t unit = std::uint64_t{1} << alignment[j];
    words[j].offset = (end + unit - 1) / unit * unit;
    end = words[j].offset + words[j].columns;
  }
  return end;
}

unsigned rate_of(const CommittedWord& word) {
  const std::uint64_t domain = word.domain().points();
  const auto rate = static_cast<unsigned>((word.columns * rate_unit + domain - 1) / domain);
  if (word.log_domain() > F::two_adicity || rate == 0 || rate > rate_unit / 2) {
    throw std::invalid_argument("a word of the opening outside domain <= 2^32, 0 < rate <= 1/2");
  }
  return rate;
}

/// The domain of v_0's code, of a table of 2^log_columns columns.
WordDomain first_domain(std::uint64_t columns, unsigned log_columns, unsigned log_vector) {
  const WordDomain domain = WordDomain::of(log_vector > large_vector ? 3 * columns : (20 * columns + 2) / 3);
  return domain.log_size > log_columns ? domain : WordDomain{log_columns + 1};
}

/// The domain of the code of a vector after another one: as many of its pieces are there, if it has some.
WordDomain next_domain(const CommittedWord& before) {
  const unsigned log_size = before.log_domain() - (before.log_columns > short_vector ? 2 : 1);
  return {log_size, log_size >= WordDomain::least_in_pieces ? before.absent_pieces : 0};
}

}  // namespace

double position_bits(unsigned rate) { return 1.0 - std::log2(1.0 + static_cast<double>(rate) / rate_unit); }

double CommittedWord::bits() const { return static_cast<double>(positions) * position_bits(rate); }

std::span<const CommittedWord> OpeningSchedule::opened_in_round(std::size_t round) const {
  return round == 0 ? std::span(oracles) : std::span(vectors).subspan(round - 1, 1);
}

std::size_t positions_for(unsigned rate, unsigned grinding_bits) {
  const double needed = required_soundness_bits - grinding_bits;
  return needed <= 0 ? 1 : static_cast<std::size_t>(std::ceil(needed / position_bits(rate)));
}

std::uint64_t OpeningSchedule::table_size(std::size_t round) const {
  if (hiding && round < vectors.size()) {
    return vectors[round].columns << folding;
  }
  return round == 0 ? vector_size : vectors[round - 1].columns;
}

std::uint64_t OpeningSchedule::row_error(std::size_t round) const {
  std::uint64_t error = hiding ? 3 : 2;  // with masks, a lying prover's round has degree 3
  for (const CommittedWord& word : opened_in_round(round)) {
    error += word.domain().points();
  }
  return error;
}

unsigned OpeningSchedule::row_work(std::size_t round) const {
  constexpr unsigned spare_bits = 28;  // |E| is a little less than 2^128
  const auto bits = static_cast<unsigned>(std::bit_width((row_challenges(round) * row_error(round)) >> spare_bits));
  return std::max(bits <= most_row_work ? bits : 0, least_row_work);
}

namespace {

/// The word of a vector with so many values, of which a table of 2^log_columns columns is encoded.
CommittedWord vector_word(const OpeningSchedule& schedule, std::uint64_t values, unsigned log_columns) {
  CommittedWord word{.log_rows = OpeningSchedule::folding,
                     .log_columns = log_columns,
                     .columns = (values + (1U << OpeningSchedule::folding) - 1) >> OpeningSchedule::folding,
                     .extension = true};
  const auto count_positions = [&] {
    const WordDomain domain = schedule.vectors.empty() ? first_domain(word.columns, log_columns, schedule.log_vector)
                                                       : next_domain(schedule.vectors.back());
    word.log_inverse_rate = domain.log_size - log_columns;
    word.absent_pieces = domain.absent_pieces;
    word.rate = rate_of(word);
    word.positions = positions_for(word.rate, schedule.grinding_bits);
  };
  if (!schedule.hiding) {
    count_positions();
    return word;
  }
  // random columns: one more than are opened; they make the rate, and so the positions, more
  word.fresh = word.columns;
  for (std::size_t random = 0; random < word.positions + 1; count_positions()) {
    random = word.positions + 1;
    word.columns = word.fresh + OpeningSchedule::round_masks + random;
    if (word.columns >> log_columns != 0) {
      break;  // another table has room
    }
  }
  return word;
}

/// All vectors of a table of 2^log_vector values; whether each of them has room.
bool plan_vectors(OpeningSchedule& schedule, unsigned log_vector) {
  schedule.vectors.clear();
  schedule.log_vector = schedule.log_clear = log_vector;
  schedule.clear_size = schedule.vector_size;
  // of a hiding proof at least one: the clear vector's mask is in its leaves
  while (schedule.clear_size > OpeningSchedule::max_clear || (schedule.hiding && schedule.vectors.empty())) {
    if (schedule.log_clear < OpeningSchedule::folding) {
      return false;
    }
    schedule.log_clear -= OpeningSchedule::folding;
    schedule.vectors.push_back(vector_word(schedule, schedule.clear_size, schedule.log_clear));
    schedule.clear_size = schedule.vectors.back().columns;
    if (schedule.hiding && schedule.clear_size >> schedule.log_clear != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

OpeningSchedule opening_schedule(std::span<const CommittedOracle> oracles, unsigned grinding_bits) {
  OpeningSchedule schedule;
  schedule.grinding_bits = grinding_bits;
  schedule.hiding = !oracles.empty() && oracles.back().extra > 0;
  for (const CommittedOracle& oracle : oracles) {
    CommittedWord& word = schedule.oracles.emplace_back(oracle_word(oracle));
    word.rate = rate_of(word);
    word.positions = positions_for(word.rate, grinding_bits);
    schedule.row_variables = std::max(schedule.row_variables, word.log_rows);
    schedule.least_row_work = std::max(schedule.least_row_work, oracle.row_work);
  }
  schedule.vector_size = deal_segments(oracles, schedule.oracles);
  unsigned log_vector = ceil_log2(schedule.vector_size);
  while (!plan_vectors(schedule, log_vector)) {
    ++log_vector;
  }
  if (schedule.hiding) {
    schedule.vectors.back().extra = clear_mask_elements;
  }
  return schedule;
}

}  // namespace tessera
