#include "commitment/hiding_batch.hpp"

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

std::vector<E> mask_weights(std::span<const E> point) {
  std::vector<E> weights{E::one()};
  for (std::size_t i = point.size(); i-- > 0;) {
    weights.push_back(point[i]);
    weights.push_back(point[i] * point[i]);
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
  for (const E& weight : mask_weights(bound.row_point(schedule.row_variables))) {
    sum += weight * (eq_index(point, index) + second_coordinate * eq_index(point, index + 1));
    index += 2;
  }
  return sum;
}

void mask_claims(PowerClaims& claims, const CommittedWord& word, const OpenedColumns& opened, E epsilon) {
  const std::size_t width = word.leaf_values();
  for (std::size_t i = 0; i < claims.values.size(); ++i) {
    const F* const mask = opened.values.data() + (i + 1) * width - clear_mask_elements;
    claims.values[i] = epsilon * claims.values[i] + E{mask[0], mask[1]};
  }
}

}  // namespace tessera
