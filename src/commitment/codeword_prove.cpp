#include <algorithm>
#include <cassert>
#include <cstring>
#include <mutex>
#include <optional>
#include "commitment/codeword.hpp"
#include "commitment/row_groups.hpp"
#include "field/ntt.hpp"
#include <utility>

namespace tessera {
TreeLevel hash_columns(std::span<const F> columns, std::size_t leaf_values) {
  TreeLevel leaves(columns.size() / leaf_values);
  const auto bytes = std::span(reinterpret_cast<const std::uint8_t*>(columns.data()), columns.size_bytes());
  blake2s_many(bytes, leaf_values * sizeof(F), leaves);
  return leaves;
}

TreeLevel merkle_parents(std::span<const Digest> children) {
  TreeLevel nodes(children.size() / 2);
  if (!nodes.empty()) {
    blake2s_many({children.front().data(), children.size() * sizeof(Digest)}, 2 * sizeof(Digest), nodes);
  }
  return nodes;
}

std::vector<TreeLevel> merkle_levels(TreeLevel leaves) {
  std::vector<TreeLevel> levels;
  levels.push_back(std::move(leaves));
  while (levels.back().size() > 1) {
    levels.push_back(merkle_parents(levels.back()));
  }
  return levels;
}

Range columns_of_rank(unsigned log_columns, int rank, int ranks) {
  const unsigned log_group = std::min(log_columns, upper_levels);
  const Range groups = contiguous_range(std::size_t{1} << (log_columns - log_group), rank, ranks);
  return {groups.first << log_group, groups.last << log_group};
}

int rank_of_column(std::size_t column, unsigned log_columns, int ranks) {
  const unsigned log_group = std::min(log_columns, upper_levels);
  return contiguous_owner(column >> log_group, std::size_t{1} << (log_columns - log_group), ranks);
}

Codeword hashed_codeword(std::size_t leaf_values, const ResidueShares& positions, TreeLevel nodes, Communicator& comm) {
  const unsigned log_columns = positions.log_indices();
  const Range leaves = columns_of_rank(log_columns, comm.rank(), comm.size());
  Codeword codeword{leaf_values, log_columns, positions, {}, leaves.first, {}, std::min(log_columns, upper_levels)};
  if (comm.size() > 1) {
    nodes = to_columns(positions, nodes, leaves, comm);
  }
  for (unsigned level = 0; level < codeword.local_levels;
       ++level) {  // a rank has whole groups of 2^upper_levels leaves
    TreeLevel parents = merkle_parents(nodes);
    std::swap(nodes, parents);
    codeword.levels.push_back(level == 0 ? std::move(parents) : TreeLevel());
  }
  const std::vector<Digest> gathered = comm.all_gather<Digest>(nodes);
  for (TreeLevel& level : merkle_levels({gathered.begin(), gathered.end()})) {
    codeword.levels.push_back(std::move(level));
  }
  return codeword;
}

namespace {

/// Leaves of a rank's positions, some classes of them at a time.
class LeafHasher {
 public:
  LeafHasher(const ResidueShares& positions, std::size_t width, const LeafExtras* extras)
      : positions_(positions), width_(width), extras_(extras) {}

  /// The next rows of these classes. `values` may be overwritten once they are the last ones.
  void absorb(Range classes, Range rows, std::span<F> values) {
    const std::size_t count = classes.size() << positions_.log_size();
    if (rows.first == 0) {
      hasher_.emplace(count, (width_ + (extras_ == nullptr ? 0 : LeafExtras::block)) * sizeof(F));
    }
    hasher_->absorb(bytes_of(values), rows.size() * sizeof(F));
    if (rows.last < width_) {
      return;
    }
    if (extras_ != nullptr) {
      const std::size_t size = count * LeafExtras::block;
      RawVector<F> own(size > values.size() ? size : 0);
      const std::span<F> blocks = own.empty() ? values.first(size) : std::span<F>(own);
      extras_->fill(positions_, classes, blocks);
      hasher_->absorb(bytes_of(blocks), LeafExtras::block * sizeof(F));
    }
    place(classes, std::move(*hasher_).digests());
  }
  TreeLevel leaves() && { return std::move(leaves_); }

  /// The same in blocks, in any order: leaves stand in that of the transform's memory until they are done.
  void begin(Range classes, Range rows) {
    if (rows.first == 0) {
      hasher_.emplace(classes.size() << positions_.log_size(), width_ * sizeof(F));
    }
  }
  void absorb(std::size_t number, const ValueBlock& block) {
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
    log_distance_ = block.log_distance;
  }
  void end(Range classes, Range rows) {
    hasher_->absorbed(rows.size() * sizeof(F));
    if (rows.last == width_) {
      place(classes, std::move(*hasher_).digests());
    }
  }

 private:
  static std::span<const std::uint8_t> bytes_of(std::span<const F> values) {
    return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()};
  }
  /// In the order of ResidueShares::place(); of a rank that is alone, in that of the tree. Digests of a class stand in
  /// the order of its slots, or after blocks slot first + (row << log_distance_) at first * rows + row.
  void place(Range classes, TreeLevel digests) {
    const bool all = classes.size() == positions_.mine().size();
    if (all && !log_distance_) {
      leaves_ = std::move(digests);
      return;
    }
    constexpr std::size_t tile = 32;
    const std::size_t size = std::size_t{1} << positions_.log_size();
    const std::size_t firsts = log_distance_ ? std::size_t{1} << *log_distance_ : size;
    const std::size_t rows = size / firsts;
    leaves_.resize(positions_.size());
    for (std::size_t number = 0; number < classes.size(); ++number) {
      const Digest* const from = digests.data() + number * size;
      Digest* const to = leaves_.data() + (all ? number * size : classes.first);
      const unsigned log_step = all ? 0 : positions_.log_count();
#pragma omp parallel for schedule(static)
      for (std::size_t first_tile = 0; first_tile < firsts; first_tile += tile) {
        for (std::size_t row_tile = 0; row_tile < rows; row_tile += tile) {
          for (std::size_t row = row_tile; row < std::min(rows, row_tile + tile); ++row) {
            for (std::size_t first = first_tile; first < std::min(firsts, first_tile + tile); ++first) {
              to[(first + row * firsts) << log_step] = from[first * rows + row];
            }
          }
        }
      }
    }
  }

  ResidueShares positions_;
  std::size_t width_;
  const LeafExtras* extras_;
  TreeLevel leaves_;
  std::optional<ColumnHasher> hasher_;
  std::mutex mutex_;
  std::optional<unsigned> log_distance_;  ///< of blocks
};

}  // namespace

Codeword encode_oracle(const OracleLayout& layout, const OracleParameters& parameters,
                       std::span<const IntegerTensor> tensors, bool keep_columns, Communicator& comm,
                       std::shared_ptr<const LeafExtras> extras) {
  const std::size_t width = std::size_t{1} << parameters.log_rows;
  const unsigned log_domain = layout.log_size() - parameters.log_rows + parameters.log_inverse_rate;
  // alone, a coset after the other: a rank touches less memory
  const ResidueShares positions = comm.size() == 1 && !keep_columns
                                      ? ResidueShares::alone(log_domain, parameters.log_inverse_rate)
                                      : ResidueShares(log_domain, comm.rank(), comm.size());
  RawVector<F> columns(keep_columns ? positions.size() * width : 0);
  LeafHasher hasher(positions, width, extras.get());
  RowSink sink;
  sink.rows = [&](Range classes, Range rows, std::span<F> values) {
    if (keep_columns) {
#pragma omp parallel for schedule(static)
      for (std::size_t place = 0; place < positions.size(); ++place) {
        std::memcpy(static_cast<void*>(columns.data() + place * width + rows.first),
                    values.data() + place * rows.size(), rows.size() * sizeof(F));
      }
    }
    hasher.absorb(classes, rows, values);
  };
  if (!keep_columns && extras == nullptr) {
    sink.before_blocks = [&](Range classes, Range rows) { hasher.begin(classes, rows); };
    sink.block = [&](std::size_t number, const ValueBlock& block) { hasher.absorb(number, block); };
    sink.after_blocks = [&](Range classes, Range rows) { hasher.end(classes, rows); };
  }
  encode_cosets(layout, parameters, tensors, positions, comm, sink);
  Codeword codeword = hashed_codeword(width, positions, std::move(hasher).leaves(), comm);
  codeword.columns = std::move(columns);
  codeword.extras = std::move(extras);
  return codeword;
}

}  // namespace tessera
