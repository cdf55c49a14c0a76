#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include "words/codeword.hpp"
#include "words/leaf_hasher.hpp"
#include "words/row_groups.hpp"
#include "field/ntt.hpp"
#include <stdexcept>
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

std::vector<TreeLevel> tree_above(const WordDomain& domain, unsigned level, TreeLevel nodes) {
  std::vector<TreeLevel> levels;
  while (!domain.whole() && level < domain.log_piece()) {
    levels.push_back(std::move(nodes));
    nodes = merkle_parents(levels.back());
    ++level;
  }
  if (!domain.whole()) {
    nodes.resize(std::size_t{1} << WordDomain::log_pieces);
    std::fill(nodes.begin() + static_cast<std::ptrdiff_t>(domain.pieces()), nodes.end(), Digest{});
  }
  for (TreeLevel& above : merkle_levels(std::move(nodes))) {
    levels.push_back(std::move(above));
  }
  return levels;
}

LeafShares::LeafShares(const WordDomain& domain, int ranks) : ranks_(ranks) {
  if (!domain.whole()) {
    log_group_ = domain.log_piece();
    groups_ = domain.pieces();
    return;
  }
  const auto count = static_cast<std::size_t>(ranks);
  // of uneven shares the largest is one group more than the least
  const unsigned log_groups = ceil_log2(count) + (std::has_single_bit(count) ? 0 : 6);
  const unsigned log_leaves = domain.log_size;
  log_group_ = std::max(log_leaves - std::min(log_leaves, log_groups), std::min(log_leaves, upper_levels));
  groups_ = std::size_t{1} << (log_leaves - log_group_);
}

namespace {

/// The tree above this rank's leaves. Collective.
Codeword hashed_codeword(std::size_t leaf_values, const WordDomain& domain, TreeLevel nodes, Communicator& comm) {
  const LeafShares leaves(domain, comm.size());
  Codeword codeword{leaf_values, {}, {}, leaves, leaves.of(comm.rank()).first, {}};
  for (unsigned level = 0; level < leaves.log_group(); ++level) {
    TreeLevel parents = merkle_parents(nodes);
    std::swap(nodes, parents);
    codeword.levels.push_back(level == 0 || level >= upper_levels ? std::move(parents) : TreeLevel());
  }
  const std::vector<Digest> gathered = comm.all_gather<Digest>(nodes);
  for (TreeLevel& level : tree_above(domain, leaves.log_group(), {gathered.begin(), gathered.end()})) {
    codeword.levels.push_back(std::move(level));
  }
  return codeword;
}

/// Rows are hashed while they are in a cache.
void hash_blocks(LeafHasher& hasher, RowSink& sink) {
  sink.before_blocks = [&](Range classes, Range rows) { hasher.begin(classes, rows); };
  sink.block = [&](std::size_t number, const ValueBlock& block) { hasher.absorb(number, block); };
  sink.after_blocks = [&](Range classes, Range rows, std::span<F> scratch) { hasher.end(classes, rows, scratch); };
}

/// log2 of the largest coset to encode at once: about as long as what is evaluated. Longer ones would take more memory,
/// and save nothing.
unsigned log_evaluated(const WordShape& shape) { return ceil_log2(shape.columns - shape.columns / 3); }

Codeword encode_whole(const WordShape& shape, bool keep_columns, Communicator& comm,
                      std::shared_ptr<const LeafExtras> extras, const EncodeRows& encode) {
  const unsigned log_size = shape.domain.log_size;
  // alone, a coset after the other: a rank touches less memory
  const ResidueShares positions = comm.size() == 1 && !keep_columns
                                      ? ResidueShares::alone(log_size, log_size - log_evaluated(shape))
                                      : ResidueShares(log_size, comm.rank(), comm.size());
  RawVector<F> columns(keep_columns ? positions.size() * shape.width : 0);
  LeafHasher hasher(shape, positions, extras.get());
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
    hash_blocks(hasher, sink);
  }
  encode(std::span(&positions, 1), std::span(&sink, 1));
  TreeLevel leaves = std::move(hasher).leaves();
  if (comm.size() > 1) {
    leaves = to_columns(positions, leaves, LeafShares(shape.domain, comm.size()).of(comm.rank()), comm);
  }
  Codeword codeword = hashed_codeword(shape.width, shape.domain, std::move(leaves), comm);
  codeword.positions = positions;
  codeword.columns = std::move(columns);
  codeword.extras = std::move(extras);
  return codeword;
}

/// A coset that neighbouring pieces of a domain make.
struct PieceRun {
  std::size_t first_piece;
  unsigned log_count;  ///< of its pieces
  Range wanted;        ///< of its pieces, the first is 0
};

/// Cosets that cover pieces, of at most 2^log_most each. `reading`: how many pieces' values take as long as a coset's
/// reading of all coefficients: one that is larger than what is wanted of it may be better than several.
std::vector<PieceRun> cosets_of(Range pieces, unsigned log_most, double reading) {
  struct Best {
    double time = 0;  // of all pieces from one on
    unsigned log_count = 0;
  };
  const auto end_of = [](std::size_t first, unsigned log_count) { return ((first >> log_count) + 1) << log_count; };
  std::vector<Best> best(pieces.last + 1);
  for (std::size_t first = pieces.last; first-- > pieces.first;) {
    best[first].time = std::numeric_limits<double>::infinity();
    for (unsigned log_count = 0; log_count <= log_most; ++log_count) {
      const std::size_t next = std::min(end_of(first, log_count), pieces.last);
      const double time = reading + static_cast<double>(std::size_t{1} << log_count) + best[next].time;
      if (time < best[first].time) {
        best[first] = {time, log_count};
      }
    }
  }
  std::vector<PieceRun> cosets;
  for (std::size_t first = pieces.first; first < pieces.last;) {
    const unsigned log_count = best[first].log_count;
    const std::size_t end = end_of(first, log_count);
    const std::size_t begin = end - (std::size_t{1} << log_count);
    cosets.push_back({begin, log_count, {first - begin, std::min(end, pieces.last) - begin}});
    first = end;
  }
  return cosets;
}

/// A rank encodes the pieces whose leaves it has: no digest moves.
Codeword encode_pieces(const WordShape& shape, Communicator& comm, std::shared_ptr<const LeafExtras> extras,
                       const EncodeRows& encode) {
  const WordDomain& domain = shape.domain;
  const LeafShares leaves(domain, comm.size());
  const Range mine = leaves.groups_of(comm.rank());
  const unsigned log_coset = log_evaluated(shape);
  const unsigned log_most = log_coset - std::min(log_coset, domain.log_piece());
  // a coefficient is read in about a third of the time that a value is transformed and hashed in, and there are about
  // 3/4 as many as columns have room for
  const std::vector<PieceRun> cosets = cosets_of(mine, log_most, std::ldexp(0.25, static_cast<int>(log_most)));
  std::vector<ResidueShares> shares;
  for (const PieceRun& coset : cosets) {
    const unsigned log_modulus = WordDomain::log_pieces - coset.log_count;
    shares.push_back(
        ResidueShares::single(domain.log_size, log_modulus, bit_reverse(coset.first_piece, WordDomain::log_pieces)));
  }
  std::deque<LeafHasher> hashers;  // sinks keep references
  std::vector<RowSink> sinks(shares.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    LeafHasher& hasher = hashers.emplace_back(shape, shares[i], extras.get());
    sinks[i].rows = [&hasher](Range classes, Range rows, std::span<F> values) { hasher.absorb(classes, rows, values); };
    hash_blocks(hasher, sinks[i]);
  }
  encode(shares, sinks);
  TreeLevel digests(mine.size() << domain.log_piece());
  for (std::size_t i = 0; i < hashers.size(); ++i) {
    const auto& [first_piece, log_count, wanted] = cosets[i];
    const std::size_t first = (first_piece + wanted.first - mine.first) << domain.log_piece();
    std::move(hashers[i])
        .leaves_by_piece(log_count, wanted, std::span(digests).subspan(first, wanted.size() << domain.log_piece()));
  }
  Codeword codeword = hashed_codeword(shape.width, domain, std::move(digests), comm);
  codeword.extras = std::move(extras);
  return codeword;
}

}  // namespace

Codeword encode_word(const WordShape& shape, bool keep_columns, Communicator& comm,
                     std::shared_ptr<const LeafExtras> extras, const EncodeRows& encode) {
  if (shape.domain.whole()) {
    return encode_whole(shape, keep_columns, comm, std::move(extras), encode);
  }
  return encode_pieces(shape, comm, std::move(extras), encode);
}

Codeword encode_oracle(const OracleLayout& layout, const OracleParameters& parameters,
                       std::span<const IntegerTensor> tensors, bool keep_columns, Communicator& comm,
                       std::shared_ptr<const LeafExtras> extras) {
  const WordShape shape{parameters.rows(), layout.log_columns(parameters), layout.domain(parameters),
                        layout.columns(parameters)};
  return encode_word(shape, keep_columns, comm, std::move(extras),
                     [&](std::span<const ResidueShares> shares, std::span<const RowSink> sinks) {
                       encode_cosets(layout, parameters, tensors, shares, comm, sinks);
                     });
}

}  // namespace tessera
