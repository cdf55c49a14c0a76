#include "opening/batch.hpp"

#include <stdexcept>

#include "opening/weights.hpp"

namespace tessera {
namespace {

/// sum over cells of coefficient * weight, by kind.
void add_cells(std::array<std::vector<E>, 4>& weights, const Affine& value, const E& scale) {
  for (const auto& term : value.terms) {
    weights[static_cast<std::size_t>(term.cell.kind)].at(term.cell.index) += scale * term.coefficient;
  }
}

/// Forms on the tensors that hold cells: a cell's weight on its first coordinate, and as much times the second basis
/// element on the other.
std::vector<LinearForm> cell_forms(const HidingClaims& hiding, std::array<std::vector<E>, 4> weights) {
  std::vector<LinearForm> forms;
  for (std::size_t kind = 0; kind < weights.size(); ++kind) {
    forms.push_back(
        {hiding.cells[kind], {Factor::of(std::move(weights[kind])), Factor::of({E::one(), second_coordinate})}});
  }
  return forms;
}

/// A batch without forms. Throws std::invalid_argument unless there is a list of claims for each oracle.
ClaimBatch empty_batch(std::size_t oracles, std::size_t lists) {
  if (lists != oracles) {
    throw std::invalid_argument("opening: one list of claims an oracle is expected");
  }
  ClaimBatch batch;
  batch.forms.resize(oracles);
  batch.coefficients.resize(oracles);
  return batch;
}

}  // namespace

ClaimBatch batch_claims(std::span<const CommittedOracle> oracles, std::span<const std::vector<Claim>> claims, E gamma) {
  ClaimBatch batch = empty_batch(oracles.size(), claims.size());
  E power = E::one();
  for (std::size_t j = 0; j < oracles.size(); ++j) {
    E& target = batch.targets.emplace_back();
    for (const Claim& claim : claims[j]) {
      require_claim_fits(oracles[j].layout, claim);
      batch.forms[j].push_back(&claim);
      batch.coefficients[j].push_back(power);
      target += power * claim.value;
      power *= gamma;
    }
  }
  return batch;
}

ClaimBatch batch_hidden(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles,
                        std::span<const std::vector<ClaimOf<Affine>>> claims, const HidingClaims& hiding, E eta,
                        E gamma) {
  ClaimBatch batch = empty_batch(oracles.size(), claims.size());
  const std::vector<E> scales = row_scales(schedule);
  const std::vector<Shape>& tensors = oracles.back().layout.tensors();
  std::array<std::vector<E>, 4> weights;
  for (std::size_t kind = 0; kind < weights.size(); ++kind) {
    weights[kind].resize(std::size_t{1} << tensors[hiding.cells[kind]].dimensions().front().bits());
  }
  E power = E::one();
  for (std::size_t j = 0; j < oracles.size(); ++j) {
    for (const ClaimOf<Affine>& claim : claims[j]) {
      require_claim_fits(oracles[j].layout, claim);
      power *= gamma;
      batch.forms[j].push_back(&claim);
      batch.coefficients[j].push_back(power * scales[j]);
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
  batch.cells = std::make_shared<const std::vector<LinearForm>>(cell_forms(hiding, std::move(weights)));
  for (const LinearForm& form : *batch.cells) {
    batch.forms.back().push_back(&form);
    batch.coefficients.back().push_back(scales.back());
  }
  return batch;
}

ClaimBatch batch_differences(const OpeningSchedule& schedule, std::span<const LinearForm> forms, E gamma) {
  ClaimBatch batch = empty_batch(schedule.oracles.size(), schedule.oracles.size());
  const std::vector<E> scales = row_scales(schedule);
  E power = E::one();
  for (const LinearForm& form : forms) {
    power *= gamma;
    batch.forms[0].push_back(&form);
    batch.coefficients[0].push_back(power * scales[0]);
    batch.forms[1].push_back(&form);
    batch.coefficients[1].push_back(-power * scales[1]);
  }
  return batch;
}

std::vector<E> row_scales(const OpeningSchedule& schedule) {
  std::vector<E> scales;
  for (const CommittedWord& word : schedule.oracles) {
    scales.emplace_back(two_to_the(schedule.row_variables - word.log_rows).inverse());
  }
  return scales;
}

E weight_at(const ClaimBatch& batch, const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles,
            const BoundVariables& bound) {
  E total;
  for (std::size_t j = 0; j < oracles.size(); ++j) {
    const CommittedWord& word = schedule.oracles[j];
    WeightEvaluator evaluator(oracles[j].layout, oracles[j].parameters, bound.vector_point(0),
                              bound.row_point(word.log_rows), word.offset);
    for (std::size_t i = 0; i < batch.forms[j].size(); ++i) {
      total += batch.coefficients[j][i] * evaluator.evaluate(*batch.forms[j][i]);
    }
  }
  return total;
}

}  // namespace tessera
