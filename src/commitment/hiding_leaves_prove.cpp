#include "commitment/hiding_leaves.hpp"

#include <algorithm>
#include <stdexcept>

#include "commitment/coset_transform.hpp"
#include "commitment/schedule.hpp"

namespace tessera {
namespace {

constexpr std::size_t wave = std::size_t{1} << 12;  // of positions whose salt is made at once

/// The salt of this rank's positions as elements [first, first + count) of their blocks.
void fill_salt(const KeyedStream& stream, const ResidueShares& positions, std::size_t first, std::size_t count,
               std::span<F> blocks) {
  const std::size_t all = std::size_t{1} << positions.log_indices();
  const std::size_t step = std::min(wave, all);
#pragma omp parallel
  {
    std::vector<F> salts(step * count);
#pragma omp for schedule(static)
    for (std::size_t begin = 0; begin < all; begin += step) {
      stream.elements(begin * count, std::span<F>(salts));
      for (std::size_t i = 0; i < step; ++i) {
        if (positions.log_count() == 0 || positions.mine().contains(positions.class_of(begin + i))) {
          F* const block = blocks.data() + positions.own_place(begin + i) * LeafExtras::block;
          F* const end = std::copy_n(salts.data() + i * count, count, block + first);
          std::fill(end, block + LeafExtras::block, F::zero());
        }
      }
    }
  }
}

}  // namespace

std::vector<F> salt_blocks(const KeyedStream& stream, std::size_t count, std::span<const std::size_t> positions) {
  std::vector<F> blocks(positions.size() * LeafExtras::block);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    stream.elements(positions[i] * count, std::span(blocks).subspan(i * LeafExtras::block, count));
  }
  return blocks;
}

LeafExtras salted_leaves(const OracleLayout& layout, const OracleParameters& parameters, const KeyedStream& salt,
                         std::size_t count, const Communicator& comm) {
  const ResidueShares positions(layout.log_size() - parameters.log_rows + parameters.log_inverse_rate, comm.rank(),
                                comm.size());
  LeafExtras extras{count, RawVector<F>(positions.size() * LeafExtras::block)};
  fill_salt(salt, positions, 0, count, extras.values);
  return extras;
}

LeafExtras masked_leaves(const OpeningSchedule& schedule, const KeyedStream& vector, const KeyedStream& salt,
                         std::size_t salt_count, const Communicator& comm) {
  static_assert(CosetTransform::lanes == LeafExtras::block);
  const CommittedWord& carrier = schedule.oracles.back();
  std::vector<const CommittedWord*> words{&carrier};
  for (const CommittedWord& word : std::span(schedule.oracles).first(schedule.oracles.size() - 1)) {
    words.push_back(&word);
  }
  const std::size_t masks = 2 * words.size();
  if (masks + salt_count > LeafExtras::block) {
    throw std::logic_error("masked_leaves: more masks and salt than a block");
  }
  std::vector<RawVector<E>> coefficients;
  for (const CommittedWord* word : words) {
    vector.elements(word->offset, std::span<E>(coefficients.emplace_back(std::size_t{1} << word->log_columns)));
  }
  const ResidueShares positions(carrier.log_domain(), comm.rank(), comm.size());
  CosetTransform transform(carrier.log_columns, positions, masks);
  (void)transform([&](std::size_t n, F* to) {
    for (std::size_t j = 0; j < words.size(); ++j) {
      // a polynomial at a power of the position's point: its coefficients lie apart
      const unsigned apart = carrier.log_columns - words[j]->log_columns;
      const bool there = (n & ((std::size_t{1} << apart) - 1)) == 0;
      const E value = there ? coefficients[j][n >> apart] : E::zero();
      to[2 * j] = value.c0, to[2 * j + 1] = value.c1;
    }
    return masks;
  });
  LeafExtras extras{masks + salt_count, std::move(transform).release()};
  fill_salt(salt, positions, masks, salt_count, extras.values);
  return extras;
}

std::unique_ptr<CodewordStore> commit_carrier(std::span<const CommittedOracle> oracles,
                                              std::span<const IntegerTensor> tensors, const KeyedStream& vector,
                                              const KeyedStream& salt, Communicator& comm, std::size_t budget) {
  const CommittedOracle& carrier = oracles.back();
  const std::size_t salt_count = carrier.extra - 2 * oracles.size();
  const auto leaves = [&] { return masked_leaves(opening_schedule(oracles), vector, salt, salt_count, comm).values; };
  return commit_oracle(carrier.layout, carrier.parameters, tensors, comm, budget, {carrier.extra, {}, leaves});
}

}  // namespace tessera
