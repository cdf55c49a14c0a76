#include "opening/vector_forms.hpp"

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

bool PowerClaims::hold_for(std::span<const E> vector) const {
  const std::span<const E> segment = vector.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(length));
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

namespace {

/// sum over g < count of x^g * beta(point, g): from the lowest variable on, the sum of all and that of those below
/// count's low bits.
E power_sum(F x, std::span<const E> point, std::uint64_t count) {
  E all = E::one();
  E below;
  for (std::size_t bit = 0; bit < point.size(); ++bit) {
    const E& z = point[point.size() - 1 - bit];
    const E high = z * x;
    const E low = E::one() - z;
    below = (count >> bit & 1U) != 0 ? low * all + high * below : low * below;
    all *= low + high;
    x *= x;
  }
  return count >> point.size() != 0 ? all : below;
}

}  // namespace

E PowerClaims::weight_at(std::span<const E> point) const {
  E total;
  for (std::size_t i = 0; i < points.size(); ++i) {
    E sum = power_sum(points[i], point, offset + length);
    if (offset > 0) {
      sum = (sum - power_sum(points[i], point, offset)) * points[i].power(offset).inverse();
    }
    total += coefficients[i] * sum;
  }
  return total;
}

E weight_at(const VectorForm& form, const BoundVariables& bound) {
  return std::visit([&](const auto& weights) { return weights.weight_at(bound.vector_point(weights.first_variable)); },
                    form);
}

std::vector<PowerClaims> power_claims(std::span<const CommittedWord> words, std::span<const OpenedColumns> opened,
                                      const BoundVariables& bound, std::size_t round) {
  std::vector<PowerClaims> claims;
  for (std::size_t j = 0; j < words.size(); ++j) {
    const Point row = bound.latest(words[j].log_rows);
    claims.push_back({.first_variable = round * OpeningSchedule::folding,
                      .length = words[j].columns,
                      .offset = words[j].offset,
                      .points = evaluation_points(words[j], opened[j]),
                      .values = bind_columns(words[j], opened[j], eq_table(row)),
                      .coefficients = {}});
  }
  return claims;
}

E PlaceWeights::weight_at(std::span<const E> point) const {
  E sum;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sum += weights[i] * eq_index(point, first + i);
  }
  return sum;
}

E assign_coefficients(std::span<PowerClaims> claims, E delta, E first) {
  E sum;
  E power = first;
  for (PowerClaims& claim : claims) {
    for (const E& value : claim.values) {
      claim.coefficients.push_back(power);
      sum += power * value;
      power *= delta;
    }
  }
  return sum;
}

}  // namespace tessera
