#include "commitment/hiding_leaves.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <deque>
#include <stdexcept>

#include "commitment/coset_transform.hpp"
#include "commitment/row_groups.hpp"
#include "commitment/schedule.hpp"
#include "field/point_evaluation.hpp"

namespace tessera {
namespace {

constexpr std::size_t wave = std::size_t{1} << 12;  // of positions or coefficients that are made at once

/// std::copy_n() of few values: usual numbers are moves whose size the compiler knows.
F* copy_few(const F* from, std::size_t count, F* to) {
  switch (count) {
    case 2:
      std::memcpy(static_cast<void*>(to), from, 2 * sizeof(F));
      return to + 2;
    case 4:
      std::memcpy(static_cast<void*>(to), from, 4 * sizeof(F));
      return to + 4;
    default:
      return std::copy_n(from, count, to);
  }
}

/// Memory from a span as long as it lasts.
class Scratch {
 public:
  explicit Scratch(std::span<F> all) : rest_(all) {}
  std::span<F> take(std::size_t count) {
    if (count > rest_.size()) {
      return own_.emplace_back(count);
    }
    const std::span<F> taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

 private:
  std::span<F> rest_;
  std::deque<RawVector<F>> own_;
};

/// Salt of the positions of these classes, `count` elements each: to(where the position stands among them) is where
/// they go.
template <class To>
void fill_salt(const KeyedStream& stream, const ResidueShares& positions, Range classes, std::size_t count,
               const To& to) {
  const std::size_t all = std::size_t{1} << positions.log_indices();
  const std::size_t step = std::min(wave, all);
  const std::size_t before = classes.first << positions.log_size();
#pragma omp parallel
  {
    std::vector<F> salts(step * count);
#pragma omp for schedule(static)
    for (std::size_t begin = 0; begin < all; begin += step) {
      stream.elements(begin * count, std::span<F>(salts));
      for (std::size_t i = 0; i < step; ++i) {
        if (classes.contains(positions.class_of(begin + i))) {
          std::copy_n(salts.data() + i * count, count, to(positions.gathered_place(begin + i) - before));
        }
      }
    }
  }
}

/// The same as elements [first, first + count) of blocks, and the zeros behind it.
void fill_salt_of_blocks(const KeyedStream& stream, const ResidueShares& positions, Range classes, std::size_t first,
                         std::size_t count, std::span<F> blocks) {
  fill_salt(stream, positions, classes, count, [&](std::size_t place) {
    F* const block = blocks.data() + place * LeafExtras::block;
    std::fill(block + first + count, block + LeafExtras::block, F::zero());
    return block + first;
  });
}

}  // namespace

std::vector<F> salt_blocks(const KeyedStream& stream, std::size_t count, std::span<const std::size_t> positions) {
  std::vector<F> blocks(positions.size() * LeafExtras::block);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    stream.elements(positions[i] * count, std::span(blocks).subspan(i * LeafExtras::block, count));
  }
  return blocks;
}

void SaltedLeaves::fill(const ResidueShares& positions, Range classes, std::span<F> blocks) const {
  fill_salt_of_blocks(*salt_, positions, classes, 0, count(), blocks);
}

std::vector<F> SaltedLeaves::at(std::span<const std::size_t> positions, Communicator& /*comm*/) const {
  return salt_blocks(*salt_, count(), positions);
}

MaskedLeaves::MaskedLeaves(const OpeningSchedule& schedule, const KeyedStream& vector,
                           std::shared_ptr<const KeyedStream> salt, std::size_t salt_count)
    : LeafExtras(2 * schedule.oracles.size() + salt_count),
      words_{schedule.oracles.back()},
      vector_(vector),
      salt_(std::move(salt)),
      salt_count_(salt_count) {
  words_.insert(words_.end(), schedule.oracles.begin(), schedule.oracles.end() - 1);
  if (count() > block) {
    throw std::logic_error("MaskedLeaves: more masks and salt than a block");
  }
}

void MaskedLeaves::coefficients(std::size_t first, std::span<F> values) const {
  const std::size_t last = first + values.size() / masks();
  std::ranges::fill(values, F::zero());
  std::vector<E> elements;
  for (std::size_t j = 0; j < words_.size(); ++j) {
    // a polynomial at a power of the position's point: its coefficients lie apart
    const unsigned apart = words_.front().log_columns - words_[j].log_columns;
    const auto above = [apart, most = words_[j].columns](std::size_t n) {
      return std::min((n + (std::size_t{1} << apart) - 1) >> apart, most);
    };
    elements.resize(above(last) - above(first));
    vector_.elements(words_[j].offset + above(first), std::span(elements));
    for (std::size_t i = 0; i < elements.size(); ++i) {
      F* const to = values.data() + (((above(first) + i) << apart) - first) * masks() + 2 * j;
      to[0] = elements[i].c0, to[1] = elements[i].c1;
    }
  }
}

void MaskedLeaves::fill_masks(const ResidueShares& positions, std::size_t number, std::span<F> blocks) const {
  const std::size_t residue = positions.residue(number);
  const std::size_t columns = std::size_t{1} << words_.front().log_columns;
  const std::size_t length = std::size_t{1} << positions.log_size();
  const std::size_t present = std::min(columns, length);
  const std::size_t step = std::min(wave, present);
  const std::vector<F> factors = fold_factors(residue, columns, positions);
#pragma omp parallel
  {
    std::vector<F> values(step * masks()), sums(step * masks());
#pragma omp for schedule(static)
    for (std::size_t first = 0; first < present; first += step) {
      std::ranges::fill(sums, F::zero());
      for (std::size_t m = 0; m < factors.size(); ++m) {
        coefficients(first + m * length, values);
        add_scaled(factors[m], values.data(), values.size(), sums.data());
      }
      for (std::size_t i = 0; i < step; ++i) {
        std::copy_n(sums.data() + i * masks(), masks(),
                    blocks.data() + bit_reverse(first + i, positions.log_size()) * block);
      }
    }
  }
  const unsigned log_padding = positions.log_size() - std::min(positions.log_size(), words_.front().log_columns);
  ntt(blocks, positions.log_size(), masks(), log_padding, block, {residue, positions.log_count()});
}

void MaskedLeaves::fill(const ResidueShares& positions, Range classes, std::span<F> blocks) const {
  const std::size_t part = block << positions.log_size();
  for (std::size_t number = classes.first; number < classes.last; ++number) {
    fill_masks(positions, number, blocks.subspan((number - classes.first) * part, part));
  }
  fill_salt_of_blocks(*salt_, positions, classes, masks(), salt_count_, blocks);
}

void MaskedLeaves::pass(const ResidueShares& positions, std::size_t number, unsigned log_distance, std::size_t together,
                        std::span<F> scratch, const Take& take) const {
  Scratch memory(scratch);
  const std::span<F> salts = memory.take(salt_count_ << positions.log_size());
  fill_salt(*salt_, positions, {number, number + 1}, salt_count_,
            [&](std::size_t place) { return salts.data() + place * salt_count_; });
  const auto put = [&](std::size_t n, std::size_t neighbours, F* to) { coefficients(n, {to, neighbours * masks()}); };
  CosetTransform transform(words_.front().log_columns, positions, masks());
  const std::span<F> encoded = memory.take(masks() << positions.log_size());
  transform.through(number, put, std::size_t{1} << words_.front().log_columns, encoded, [&](const ValueBlock& values) {
    assert(values.log_distance == log_distance);  // two passes, like the columns'
    std::vector<F> blocks(together * block);
    for (std::size_t i = 0; i < values.neighbours; ++i) {
      const std::size_t first = values.first + i;
      for (std::size_t row = 0; row < values.rows; row += together) {
        for (std::size_t k = 0; k < together; ++k) {
          F* const to = copy_few(values.slot(i, row + k), masks(), blocks.data() + k * block);
          copy_few(salts.data() + (first + ((row + k) << log_distance)) * salt_count_, salt_count_, to);
        }
        take(first, row, blocks);
      }
    }
  });
}

std::vector<F> MaskedLeaves::at(std::span<const std::size_t> positions, Communicator& comm) const {
  const CommittedWord& carrier = words_.front();
  const std::size_t columns = std::size_t{1} << carrier.log_columns;
  PointEvaluation evaluation(carrier.log_domain(), masks(), carrier.log_inverse_rate, positions);
  const std::size_t parts = evaluation.parts();
  const std::size_t step = evaluation.parts_at_once();
  RawVector<F> buffer(step * evaluation.part_size());
  for (std::size_t first = step * static_cast<std::size_t>(comm.rank()); first < parts;
       first += step * static_cast<std::size_t>(comm.size())) {
    const std::size_t count = std::min(step, parts - first);
#pragma omp parallel
    {
      std::vector<F> values(count * masks());
#pragma omp for schedule(static)
      for (std::size_t n = first; n < columns; n += parts) {
        coefficients(n, values);
        for (std::size_t i = 0; i < count; ++i) {
          std::copy_n(values.data() + i * masks(), masks(),
                      buffer.data() + i * evaluation.part_size() + evaluation.place(n + i));
        }
      }
    }
    evaluation.add({first}, std::span(buffer).first(count * evaluation.part_size()));
  }
  const std::vector<F> values = sum_over_ranks(evaluation.values(), comm);
  const std::vector<F> salt = salt_blocks(*salt_, salt_count_, positions);
  std::vector<F> blocks(positions.size() * block);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    F* const to = std::copy_n(values.data() + i * masks(), masks(), blocks.data() + i * block);
    std::copy_n(salt.data() + i * block, salt_count_, to);
  }
  return blocks;
}

std::unique_ptr<CodewordStore> commit_carrier(std::span<const CommittedOracle> oracles,
                                              std::span<const IntegerTensor> tensors, const KeyedStream& vector,
                                              std::shared_ptr<const KeyedStream> salt, Communicator& comm,
                                              std::size_t budget) {
  const CommittedOracle& carrier = oracles.back();
  auto leaves = std::make_shared<MaskedLeaves>(opening_schedule(oracles), vector, std::move(salt),
                                               carrier.extra - 2 * oracles.size());
  return commit_oracle(carrier.layout, carrier.parameters, tensors, comm, budget, std::move(leaves));
}

}  // namespace tessera
