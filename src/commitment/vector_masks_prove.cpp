#include "commitment/vector_masks.hpp"

#include <algorithm>

namespace tessera {
namespace {

/// Columns of a vector that are random.
std::uint64_t random_columns(const CommittedWord& word) {
  return word.columns - word.fresh - OpeningSchedule::round_masks;
}

}  // namespace

std::uint64_t VectorMasks::first(std::size_t round) const {
  std::uint64_t elements = 0;
  for (std::size_t i = 0; i < round; ++i) {
    elements += OpeningSchedule::round_masks + folded_rows * random_columns(schedule_.vectors[i]);
  }
  return elements;
}

std::vector<E> VectorMasks::of_rounds(std::size_t round) const {
  std::vector<E> masks(OpeningSchedule::round_masks);
  stream_.elements(first(round), std::span<E>(masks));
  return masks;
}

void VectorMasks::fill(std::size_t round, const ResidueShares& columns, std::span<E> values) const {
  const CommittedWord& word = schedule_.vectors[round];
  std::vector<E> fresh(OpeningSchedule::round_masks + folded_rows * random_columns(word));
  stream_.elements(first(round), std::span<E>(fresh));
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

std::vector<E> VectorMasks::of_clear() const {
  std::vector<E> mask(static_cast<std::size_t>(schedule_.clear_size));
  stream_.elements(first(schedule_.vectors.size()), std::span<E>(mask));
  return mask;
}

}  // namespace tessera
