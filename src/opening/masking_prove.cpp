#include "opening/masking_prove.hpp"

#include "opening/vector_weights.hpp"

namespace tessera {

E MaskRounds::sum() const {
  E slopes;
  for (std::size_t i = next(); i < masks_.size(); ++i) {
    slopes += masks_[i];
  }
  return (fixed_ + slopes * half()) * two_to_the(free_);
}

void MaskRounds::bind(E challenge) {
  if (free_ > 0) {
    fixed_ += challenge * (masks_[next()] + challenge * masks_[next() + 1]);
    --free_;
  }
}

RoundSums MaskRounds::add_to(RoundSums sums) const {
  if (free_ == 0) {
    return sums;
  }
  E later;
  for (std::size_t i = next() + 2; i < masks_.size(); ++i) {
    later += masks_[i];
  }
  const F count = two_to_the(free_ - 1);
  const E at_zero = (fixed_ + later * half()) * count;
  sums[0] += at_zero;
  sums[1] += at_zero + (masks_[next()] + masks_[next() + 1]) * count;
  sums[2] += masks_[next() + 1] * count;
  return sums;
}

namespace {

std::vector<E> scaled(std::vector<E> values, E by) {
  for (E& value : values) {
    value *= by;
  }
  return values;
}

}  // namespace

std::shared_ptr<const LeafExtras> HidingProverMasking::fill(std::size_t round, VectorSummand& vector,
                                                            const ResidueShares& columns) {
  masks_.fill(run_.schedule, round, columns, vector.values().span());
  add_weights(before_, {columns, vector.weights()});
  const bool last = round + 1 == run_.schedule.vectors.size();
  return last ? masks_.of_leaves(run_.schedule) : nullptr;
}

void HidingProverMasking::send_sum(std::size_t round) {
  run_.transcript.send("masked sum", MaskRounds(masks_.of_rounds(run_.schedule, round)).sum());
}

MaskRounds HidingProverMasking::of_rounds(std::size_t round, E delta) const {
  return MaskRounds(scaled(masks_.of_rounds(run_.schedule, round), delta));
}

void HidingProverMasking::rows_bound(std::size_t round, E delta, const BoundVariables& bound) {
  before_ = round_mask_weights(run_.schedule, round, delta, bound);
}

/// epsilon*v + g in place of v.
E HidingProverMasking::mask_clear(VectorSummand& vector, E claim) {
  add_weights(before_, {vector.columns(run_.schedule.log_clear), vector.weights()});
  const std::vector<E> mask = masks_.of_clear(run_.schedule);
  E sum;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    sum += vector.weights()[i] * mask[i];
  }
  run_.transcript.send("vector mask", sum);
  const E epsilon = run_.transcript.challenge("mask");
  for (std::size_t i = 0; i < mask.size(); ++i) {
    vector.values().span()[i] = epsilon * vector.values().span()[i] + mask[i];
  }
  return epsilon * claim + sum;
}

}  // namespace tessera
