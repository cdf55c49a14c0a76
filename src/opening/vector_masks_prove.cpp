#include "opening/vector_masks.hpp"

#include <algorithm>

#include "opening/clear_mask_leaves.hpp"

namespace tessera {
namespace {

/// Columns of a vector that are random.
std::uint64_t random_columns(const CommittedWord& word) {
  return word.columns - word.fresh - OpeningSchedule::round_masks;
}

/// Where a vector's elements begin.
std::uint64_t first_of(const OpeningSchedule& schedule, std::size_t round) {
  std::uint64_t elements = 0;
  for (std::size_t i = 0; i < round; ++i) {
    elements += OpeningSchedule::round_masks + folded_rows * random_columns(schedule.vectors[i]);
  }
  return elements;
}

}  // namespace

std::uint64_t VectorMasks::size(const OpeningSchedule& schedule) {
  return first_of(schedule, schedule.vectors.size()) + schedule.clear_size;
}

std::vector<E> VectorMasks::elements(std::uint64_t first, std::size_t count) const {
  std::vector<E> found(count);
  stream_.elements(first, std::span<E>(found));
  return found;
}

std::vector<E> VectorMasks::of_rounds(const OpeningSchedule& schedule, std::size_t round) const {
  return elements(first_of(schedule, round), OpeningSchedule::round_masks);
}

void VectorMasks::fill(const OpeningSchedule& schedule, std::size_t round, const ResidueShares& columns,
                       std::span<E> values) const {
  const CommittedWord& word = schedule.vectors[round];
  const std::vector<E> fresh =
      elements(first_of(schedule, round),
               OpeningSchedule::round_masks + folded_rows * static_cast<std::size_t>(random_columns(word)));
  for (std::uint64_t i = 0; word.fresh + i < word.columns; ++i) {
    const auto column = static_cast<std::size_t>(word.fresh + i);
    if (!columns.mine().contains(columns.class_of(column))) {
      continue;
    }
    const std::span<E> to = values.subspan(columns.own_place(column) * folded_rows, folded_rows);
    if (i < OpeningSchedule::round_masks) {
      std::ranges::fill(to, fresh[i]);
    } else {
      const std::size_t from = OpeningSchedule::round_masks + (i - OpeningSchedule::round_masks) * folded_rows;
      std::copy_n(fresh.begin() + static_cast<std::ptrdiff_t>(from), folded_rows, to.begin());
    }
  }
}

std::vector<E> VectorMasks::of_clear(const OpeningSchedule& schedule) const {
  return elements(first_of(schedule, schedule.vectors.size()), static_cast<std::size_t>(schedule.clear_size));
}

std::shared_ptr<const LeafExtras> VectorMasks::of_leaves(const OpeningSchedule& schedule) const {
  return clear_mask_leaves(of_clear(schedule), schedule.vectors.back());
}

}  // namespace tessera
