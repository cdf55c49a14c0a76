#include "commitment/hiding_batch.hpp"

#include <algorithm>

#include "commitment/weights.hpp"

namespace tessera {
namespace {

const E second_coordinate{F::zero(), F::one()};

/// sum over cells of coefficient * weight, by kind.
void add_cells(std::array<std::vector<E>, 4>& weights, const Affine& value, const E& scale) {
  for (const auto& term : value.terms) {
    weights[static_cast<std::size_t>(term.cell.kind)].at(term.cell.index) += scale * term.coefficient;
  }
}

}  // namespace

std::vector<E> row_scales(const OpeningSchedule& schedule) {
  std::vector<E> scales;
  for (const CommittedWord& word : schedule.oracles) {
    scales.emplace_back(two_to_the(schedule.row_variables - word.log_rows).inverse());
  }
  return scales;
}

HidingBatch batch_hidden(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles,
                         std::span<const std::vector<ClaimOf<Affine>>> claims, const HidingClaims& hiding, E eta,
                         E gamma) {
  const std::vector<E> scales = row_scales(schedule);
  const std::vector<Shape>& tensors = oracles.back().layout.tensors();
  std::array<std::vector<E>, 4> weights;
  for (std::size_t kind = 0; kind < weights.size(); ++kind) {
    weights[kind].resize(std::size_t{1} << tensors[hiding.cells[kind]].dimensions().front().bits());
  }
  HidingBatch batch;
  E power = E::one();
  for (std::size_t j = 0; j < oracles.size(); ++j) {
    std::vector<E>& coefficients = batch.coefficients.emplace_back();
    for (const ClaimOf<Affine>& claim : claims[j]) {
      require_claim_fits(oracles[j].layout, claim);
      power *= gamma;
      coefficients.push_back(power * scales[j]);
      batch.target += claim.value.constant * power;
      add_cells(weights, claim.value, -power);  // <w, T> - hidden part = constant
    }
  }
  power *= gamma;
  for (const Affine& constraint : hiding.constraints) {
    batch.target -= constraint.constant * power;
    add_cells(weights, constraint, power);
    power *= eta;
  }
  for (std::size_t kind = 0; kind < weights.size(); ++kind) {
    for (E& weight : weights[kind]) {
      weight *= scales.back();
    }
    batch.cells.push_back(
        {hiding.cells[kind], {Factor::of(std::move(weights[kind])), Factor::of({E::one(), second_coordinate})}});
  }
  return batch;
}

HidingBatch batch_differences(const OpeningSchedule& schedule, std::size_t forms, E gamma) {
  const std::vector<E> scales = row_scales(schedule);
  HidingBatch batch;
  batch.coefficients.resize(scales.size());
  E power = E::one();
  for (std::size_t i = 0; i < forms; ++i) {
    power *= gamma;
    batch.coefficients[0].push_back(power * scales[0]);
    batch.coefficients[1].push_back(-power * scales[1]);
  }
  return batch;
}

std::vector<E> row_mask_weights(const BoundVariables& bound, unsigned row_variables) {
  const Point rows = bound.row_point(row_variables);  // the variable that was bound first is last
  std::vector<E> weights{E::one()};
  for (std::size_t i = rows.size(); i-- > 0;) {
    weights.push_back(rows[i]);
    weights.push_back(rows[i] * rows[i]);
  }
  return weights;
}

std::uint64_t row_masks_index(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles,
                              std::size_t masks) {
  const CommittedWord& word = schedule.oracles.back();
  return word.offset + (oracles.back().layout.offset(masks, 0) >> word.log_rows);
}

E row_masks_at(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles, std::size_t masks,
               const BoundVariables& bound) {
  const Point point = bound.vector_point(0);
  std::uint64_t index = row_masks_index(schedule, oracles, masks);
  E sum;
  for (const E& weight : row_mask_weights(bound, schedule.row_variables)) {
    sum += weight * (eq_index(point, index) + second_coordinate * eq_index(point, index + 1));
    index += 2;
  }
  return sum;
}

std::vector<std::size_t> shared_positions(const CommittedWord& word, std::span<const std::size_t> positions) {
  const auto mask = static_cast<std::size_t>((std::uint64_t{1} << word.log_domain()) - 1);
  std::vector<std::size_t> result;
  for (const std::size_t position : positions) {
    result.push_back(position & mask);
  }
  std::ranges::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::vector<PowerClaims> masked_power_claims(const OpeningSchedule& schedule, std::span<const OpenedColumns> opened,
                                             const BoundVariables& bound, E epsilon) {
  const OpenedColumns& carrier = opened.back();
  const std::size_t width = schedule.oracles.back().leaf_values();
  const std::size_t first_mask = std::size_t{1} << schedule.oracles.back().log_rows;  // in the carrier's leaves
  std::vector<PowerClaims> claims;
  for (std::size_t j = 0; j < opened.size(); ++j) {
    const CommittedWord& word = schedule.oracles[j];
    PowerClaims& list = claims.emplace_back(PowerClaims{.first_variable = 0,
                                                        .length = word.columns,
                                                        .offset = word.offset,
                                                        .points = {},
                                                        .values = {},
                                                        .coefficients = {}});
    const std::vector<E> columns = bind_columns(word, opened[j], eq_table(bound.row_point(word.log_rows)));
    const auto mask = static_cast<std::size_t>((std::uint64_t{1} << word.log_domain()) - 1);
    const F root = F::root_of_unity(word.log_domain());
    const std::size_t masks = j + 1 == opened.size() ? 0 : 2 * (j + 1);  // the carrier's own come first
    for (std::size_t i = 0; i < carrier.positions.size(); ++i) {
      const std::size_t position = carrier.positions[i] & mask;
      const auto place = std::ranges::lower_bound(opened[j].positions, position) - opened[j].positions.begin();
      const F* const extra = carrier.values.data() + i * width + first_mask + masks;
      list.points.push_back(root.power(position));
      list.values.push_back(epsilon * columns[static_cast<std::size_t>(place)] + E{extra[0], extra[1]});
    }
  }
  return claims;
}

}  // namespace tessera
