#include <stdexcept>
#include "commitment/bound_claims.hpp"
#include "commitment/weights.hpp"

namespace tessera {

Point BoundVariables::latest(std::size_t count) const {
  return {challenges_.rbegin(), challenges_.rbegin() + static_cast<std::ptrdiff_t>(count)};
}

Point BoundVariables::row_point(unsigned log_rows) const {
  const auto end = static_cast<std::ptrdiff_t>(challenges_.size() - row_variables_);
  return {challenges_.rbegin() + end, challenges_.rbegin() + end + log_rows};
}

Point BoundVariables::vector_point(std::size_t skip) const {
  return latest(challenges_.size() - row_variables_ - skip);
}

Point BoundVariables::oracle_point(const OpeningSchedule& schedule, std::size_t j) const {
  const CommittedWord& word = schedule.oracles[j];
  const Point vector = vector_point(0);
  Point point(vector.end() - word.log_columns, vector.end());
  const Point row = row_point(word.log_rows);
  point.insert(point.end(), row.begin(), row.end());
  return point;
}

E BoundVariables::selector(const OpeningSchedule& schedule, const CommittedWord& word) const {
  const Point vector = vector_point(0);
  return eq_index(std::span(vector).first(schedule.log_vector - word.log_columns), word.offset >> word.log_columns);
}

bool PowerClaims::hold_for(std::span<const E> vector) const {
  const std::span<const E> segment = vector.subspan(offset, std::size_t{1} << log_length);
  for (std::size_t i = 0; i < points.size(); ++i) {
    E sum;
    for (std::size_t x = segment.size(); x-- > 0;) {
      sum = sum * points[i] + segment[x];
    }
    if (sum != values[i]) {
      return false;
    }
  }
  return true;
}

E PowerClaims::weight_at(std::span<const E> point) const {
  const std::size_t above = point.size() - log_length;
  const std::span<const E> inside = point.subspan(above);
  E total;
  for (std::size_t i = 0; i < points.size(); ++i) {
    F power = points[i];
    E product = coefficients[i];
    for (std::size_t bit = log_length; bit-- > 0;) {
      product *= E::one() + inside[bit] * (power - F::one());
      power *= power;
    }
    total += product;
  }
  return total * eq_index(point.first(above), offset >> log_length);
}

std::vector<PowerClaims> power_claims(std::span<const CommittedWord> words, std::span<const OpenedColumns> opened,
                                      const BoundVariables& bound, std::size_t round) {
  std::vector<PowerClaims> claims;
  for (std::size_t j = 0; j < words.size(); ++j) {
    const Point row = bound.latest(words[j].log_rows);
    claims.push_back({.first_variable = round * OpeningSchedule::folding,
                      .log_length = words[j].log_columns,
                      .offset = words[j].offset,
                      .points = evaluation_points(words[j], opened[j]),
                      .values = bind_columns(words[j], opened[j], eq_table(row)),
                      .coefficients = {}});
  }
  return claims;
}

E assign_coefficients(std::span<PowerClaims> claims, E delta) {
  E sum;
  E power = delta;
  for (PowerClaims& claim : claims) {
    for (const E& value : claim.values) {
      claim.coefficients.push_back(power);
      sum += power * value;
      power *= delta;
    }
  }
  return sum;
}

std::vector<E> batch_values(std::span<const CommittedOracle> oracles, std::span<const std::vector<Claim>> claims,
                            E gamma) {
  if (claims.size() != oracles.size()) {
    throw std::invalid_argument("opening: one list of claims an oracle is expected");
  }
  std::vector<E> sums;
  E power = E::one();
  for (std::size_t j = 0; j < oracles.size(); ++j) {
    E sum;
    for (const Claim& claim : claims[j]) {
      require_claim_fits(oracles[j].layout, claim);
      sum += power * claim.value;
      power *= gamma;
    }
    sums.push_back(sum);
  }
  return sums;
}

}  // namespace tessera
