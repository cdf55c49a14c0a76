#include "opening/masking.hpp"

#include <cmath>

namespace tessera {

std::vector<E> mask_weights(std::span<const E> point) {
  std::vector<E> weights{E::one()};
  for (std::size_t i = point.size(); i-- > 0;) {
    weights.push_back(point[i]);
    weights.push_back(point[i] * point[i]);
  }
  return weights;
}

E first_coefficient(E delta, unsigned terms) {
  E coefficient = delta;
  for (unsigned i = 0; i < terms; ++i) {
    coefficient *= delta;
  }
  return coefficient;
}

PlaceWeights row_mask_weights(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles,
                              std::size_t tensor, const BoundVariables& bound) {
  const CommittedWord& word = schedule.oracles.back();
  PlaceWeights form{0, word.offset + (oracles.back().layout.offset(tensor, 0) >> word.log_rows), {}};
  for (const E& weight : mask_weights(bound.row_point(schedule.row_variables))) {
    form.weights.insert(form.weights.end(), {weight, weight * second_coordinate});
  }
  return form;
}

PlaceWeights round_mask_weights(const OpeningSchedule& schedule, std::size_t round, E delta,
                                const BoundVariables& bound) {
  PlaceWeights form{(round + 1) * OpeningSchedule::folding, schedule.vectors[round].fresh,
                    mask_weights(bound.latest(OpeningSchedule::folding))};
  for (E& weight : form.weights) {
    weight *= delta;
  }
  return form;
}

void HidingMasking::add_row_forms(const BoundVariables& bound, std::vector<VectorForm>& forms) const {
  forms.emplace_back(row_mask_weights(schedule_, oracles_, tensor_, bound));
}

void HidingMasking::add_round_forms(std::size_t round, E delta, const BoundVariables& bound,
                                    std::vector<VectorForm>& forms) const {
  forms.emplace_back(round_mask_weights(schedule_, round, delta, bound));
}

E HidingMasking::mask_claim(VerifierView<E>& transcript, E claim) {
  const E sum = transcript.receive("vector mask");
  epsilon_ = transcript.challenge(
      "mask", 1 + std::exp2(last_word().log_domain()),
      "round " + std::to_string(schedule_.vectors.size()) + ": mask of the clear vector, proximity");
  return claim * epsilon_ + sum;
}

void HidingMasking::mask_columns(PowerClaims& claims, const OpenedColumns& opened) const {
  const std::size_t width = last_word().leaf_values();
  for (std::size_t i = 0; i < claims.values.size(); ++i) {
    const F* const mask = opened.values.data() + (i + 1) * width - clear_mask_elements;
    claims.values[i] = epsilon_ * claims.values[i] + E{mask[0], mask[1]};
  }
}

}  // namespace tessera
