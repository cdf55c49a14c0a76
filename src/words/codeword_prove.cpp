#include <algorithm>
#include <bit>
#include <cstring>
#include "words/codeword.hpp"
#include "words/leaf_hasher.hpp"
#include "words/row_groups.hpp"
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

unsigned log_group_of_columns(unsigned log_columns, int ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  // of uneven shares the largest is one group more than the least
  const unsigned log_groups = ceil_log2(count) + (std::has_single_bit(count) ? 0 : 6);
  return std::max(log_columns - std::min(log_columns, log_groups), std::min(log_columns, upper_levels));
}

Range columns_of_rank(unsigned log_columns, int rank, int ranks) {
  const unsigned log_group = log_group_of_columns(log_columns, ranks);
  const Range groups = contiguous_range(std::size_t{1} << (log_columns - log_group), rank, ranks);
  return {groups.first << log_group, groups.last << log_group};
}

int rank_of_column(std::size_t column, unsigned log_columns, int ranks) {
  const unsigned log_group = log_group_of_columns(log_columns, ranks);
  return contiguous_owner(column >> log_group, std::size_t{1} << (log_columns - log_group), ranks);
}

Codeword hashed_codeword(std::size_t leaf_values, const ResidueShares& positions, TreeLevel nodes, Communicator& comm) {
  const unsigned log_columns = positions.log_indices();
  const Range leaves = columns_of_rank(log_columns, comm.rank(), comm.size());
  Codeword codeword{
      leaf_values, log_columns, positions, {}, leaves.first, {}, log_group_of_columns(log_columns, comm.size())};
  if (comm.size() > 1) {
    nodes = to_columns(positions, nodes, leaves, comm);
  }
  for (unsigned level = 0; level < codeword.local_levels; ++level) {
    TreeLevel parents = merkle_parents(nodes);
    std::swap(nodes, parents);
    codeword.levels.push_back(level == 0 || level >= upper_levels ? std::move(parents) : TreeLevel());
  }
  const std::vector<Digest> gathered = comm.all_gather<Digest>(nodes);
  for (TreeLevel& level : merkle_levels({gathered.begin(), gathered.end()})) {
    codeword.levels.push_back(std::move(level));
  }
  return codeword;
}

Codeword encode_word(const WordShape& shape, bool keep_columns, Communicator& comm,
                     std::shared_ptr<const LeafExtras> extras, const EncodeRows& encode) {
  // alone, a coset after the other: a rank touches less memory
  const ResidueShares positions = comm.size() == 1 && !keep_columns
                                      ? ResidueShares::alone(shape.log_domain(), shape.log_inverse_rate)
                                      : ResidueShares(shape.log_domain(), comm.rank(), comm.size());
  RawVector<F> columns(keep_columns ? positions.size() * shape.width : 0);
  LeafHasher hasher(positions, shape.width, extras.get());
  RowSink sink;
  sink.rows = [&](Range classes, Range rows, std::span<F> values) {
    if (keep_columns) {
#pragma omp parallel for schedule(static)
      for (std::size_t place = 0; place < positions.size(); ++place) {
        std::memcpy(static_cast<void*>(columns.data() + place * shape.width + rows.first),
                    values.data() + place * rows.size(), rows.size() * sizeof(F));
      }
    }
    hasher.absorb(classes, rows, values);
  };
  if (!keep_columns) {
    sink.before_blocks = [&](Range classes, Range rows) { hasher.begin(classes, rows); };
    sink.block = [&](std::size_t number, const ValueBlock& block) { hasher.absorb(number, block); };
    sink.after_blocks = [&](Range classes, Range rows, std::span<F> scratch) { hasher.end(classes, rows, scratch); };
  }
  encode(positions, sink);
  Codeword codeword = hashed_codeword(shape.width, positions, std::move(hasher).leaves(), comm);
  codeword.columns = std::move(columns);
  codeword.extras = std::move(extras);
  return codeword;
}

Codeword encode_oracle(const OracleLayout& layout, const OracleParameters& parameters,
                       std::span<const IntegerTensor> tensors, bool keep_columns, Communicator& comm,
                       std::shared_ptr<const LeafExtras> extras) {
  return encode_word({parameters.rows(), layout.log_columns(parameters), parameters.log_inverse_rate}, keep_columns,
                     comm, std::move(extras), [&](const ResidueShares& positions, const RowSink& sink) {
                       encode_cosets(layout, parameters, tensors, positions, comm, sink);
                     });
}

}  // namespace tessera
