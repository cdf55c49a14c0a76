#include "words/leaf_hasher.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "memory/storage.hpp"
#include "base/shares.hpp"

namespace tessera {
namespace {

std::span<const std::uint8_t> bytes_of(std::span<const F> values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()};
}

}  // namespace

void LeafHasher::absorb(Range classes, Range rows, std::span<F> values) {
  const std::size_t count = classes.size() << positions_.log_size();
  begin(classes, rows);
  hasher_->absorb(bytes_of(values), rows.size() * sizeof(F));
  if (rows.last < width_) {
    return;
  }
  if (extras_ != nullptr) {
    const std::size_t size = count * LeafExtras::block;
    RawVector<F> own(size > values.size() ? size : 0);
    const std::span<F> blocks = own.empty() ? values.first(size) : std::span<F>(own);
    extras_->fill(domain_, positions_, classes, blocks);
    hasher_->absorb(bytes_of(blocks), LeafExtras::block * sizeof(F));
  }
  parts_.push_back({classes, std::move(*hasher_).digests()});
}

void LeafHasher::begin(Range classes, Range rows) {
  if (rows.first == 0) {
    hasher_.emplace(classes.size() << positions_.log_size(),
                    (width_ + (extras_ == nullptr ? 0 : LeafExtras::block)) * sizeof(F));
  }
}

void LeafHasher::absorb(std::size_t number, const ValueBlock& block) {
  const std::size_t together = ColumnHasher::side_by_side();
  assert(block.rows % together == 0);
  const std::size_t bytes = block.lanes * sizeof(F);
  RawVector<F> copy(block.together() % together == 0 ? 0 : together * block.lanes);
  for (std::size_t i = 0; i < block.neighbours; ++i) {
    const std::size_t first = (number << positions_.log_size()) + (block.first + i) * block.rows;
    for (std::size_t row = 0; row < block.rows; row += together) {
      const F* values = block.slot(i, row);
      for (std::size_t k = 0; k < together && !copy.empty(); ++k) {
        std::copy_n(block.slot(i, row + k), block.lanes, copy.data() + k * block.lanes);
        values = copy.data();
      }
      hasher_->absorb_group(first + row, reinterpret_cast<const std::uint8_t*>(values), bytes);
    }
  }
  const std::lock_guard lock(mutex_);
  assert(log_distance_.value_or(block.log_distance) == block.log_distance);
  log_distance_ = block.log_distance;
}

void LeafHasher::end(Range classes, Range rows, std::span<F> scratch) {
  hasher_->absorbed(rows.size() * sizeof(F));
  if (rows.last < width_) {
    return;
  }
  if (extras_ != nullptr) {
    absorb_extras(classes, scratch);
  }
  parts_.push_back({classes, std::move(*hasher_).digests()});
}

/// Hashes what leaves have beside their columns; where these came in blocks, leaves are in the order that place()
/// undoes.
void LeafHasher::absorb_extras(Range classes, std::span<F> scratch) {
  constexpr std::size_t block = LeafExtras::block;
  const std::size_t together = ColumnHasher::side_by_side();
  const unsigned log_distance = log_distance_.value();
  const std::size_t rows = std::size_t{1} << (positions_.log_size() - log_distance);
  const std::size_t size = block << positions_.log_size();
  RawVector<F> own(size > scratch.size() ? size : 0);
  const std::span<F> blocks = own.empty() ? scratch.first(size) : std::span<F>(own);
  for (std::size_t number = 0; number < classes.size(); ++number) {
    extras_->fill(domain_, positions_, {classes.first + number, classes.first + number + 1}, blocks);
#pragma omp parallel
    {
      std::vector<F> group(together * block);
#pragma omp for schedule(dynamic, share_of(std::size_t{1} << log_distance))
      for (std::size_t first = 0; first < std::size_t{1} << log_distance; ++first) {
        for (std::size_t row = 0; row < rows; row += together) {
          for (std::size_t k = 0; k < together; ++k) {
            std::copy_n(blocks.data() + (first + ((row + k) << log_distance)) * block, block, group.data() + k * block);
          }
          hasher_->absorb_group((number << positions_.log_size()) + first * rows + row, bytes_of(group).data(),
                                block * sizeof(F));
        }
      }
    }
  }
  hasher_->absorbed(block * sizeof(F));
}

TreeLevel LeafHasher::leaves() && {
  if (parts_.size() == 1 && !log_distance_) {
    return std::move(parts_.front().digests);
  }
  TreeLevel leaves(positions_.size());
  for (Part& part : parts_) {
    place(part, leaves);
    part.digests = {};  // its pages are the tree's next levels'
  }
  return leaves;
}

void LeafHasher::leaves_by_piece(unsigned log_pieces, Range wanted, std::span<Digest> to) && {
  const unsigned log_piece = positions_.log_size() - log_pieces;
  std::vector<Digest*> pieces;  // by the low bits of a position
  for (std::size_t low = 0; low >> log_pieces == 0; ++low) {
    const std::size_t piece = bit_reverse(low, log_pieces);
    pieces.push_back(wanted.contains(piece) ? to.data() + ((piece - wanted.first) << log_piece) : nullptr);
  }
  in_order(parts_.front().digests.data(), [&](std::size_t i, const Digest& digest) {
    if (Digest* const piece = pieces[i & (pieces.size() - 1)]; piece != nullptr) {
      piece[i >> log_pieces] = digest;
    }
  });
  parts_.clear();
}

/// Digests of a class stand in the order of its slots, or after blocks slot first + (row << log_distance_) at
/// first * rows + row.
template <class To>
void LeafHasher::in_order(const Digest* from, const To& to) const {
  constexpr std::size_t tile = 32;
  const std::size_t size = std::size_t{1} << positions_.log_size();
  const std::size_t firsts = log_distance_ ? std::size_t{1} << *log_distance_ : size;
  const std::size_t rows = size / firsts;
#pragma omp parallel for schedule(dynamic, share_of(firsts / tile))
  for (std::size_t first_tile = 0; first_tile < firsts; first_tile += tile) {
    for (std::size_t row_tile = 0; row_tile < rows; row_tile += tile) {
      for (std::size_t row = row_tile; row < std::min(rows, row_tile + tile); ++row) {
        for (std::size_t first = first_tile; first < std::min(firsts, first_tile + tile); ++first) {
          to(first + row * firsts, from[first * rows + row]);
        }
      }
    }
  }
}

void LeafHasher::place(const Part& part, TreeLevel& leaves) const {
  const bool all = part.classes.size() == positions_.mine().size();
  const std::size_t size = std::size_t{1} << positions_.log_size();
  const unsigned log_step = all ? 0 : positions_.log_count();
  for (std::size_t number = 0; number < part.classes.size(); ++number) {
    Digest* const to = leaves.data() + (all ? number * size : part.classes.first);
    in_order(part.digests.data() + number * size,
             [&](std::size_t i, const Digest& digest) { to[i << log_step] = digest; });
  }
}

}  // namespace tessera
