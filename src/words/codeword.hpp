#pragma once

#include <functional>
#include "hash/merkle_tree.hpp"
#include "words/residue_shares.hpp"
#include "words/codeword_store.hpp"
#include "memory/storage.hpp"

namespace tessera {

/// Levels from this one on are kept, those between it and the leaves follow from these.
inline constexpr unsigned upper_levels = 5;

/// How ranks share a word's leaves: neighbouring groups, each with the tree above it, at least as high as upper_levels.
/// Large groups: what is above them is every rank's work. Of a domain in pieces a piece is a group, which its rank has
/// encoded, too.
class LeafShares {
 public:
  LeafShares() = default;
  LeafShares(const WordDomain& domain, int ranks);
  /// log2 of the leaves of a group: as many levels of the tree a rank has of its own groups alone.
  [[nodiscard]] unsigned log_group() const { return log_group_; }
  /// The groups that a rank has, and their leaves.
  [[nodiscard]] Range groups_of(int rank) const { return contiguous_range(groups_, rank, ranks_); }
  [[nodiscard]] Range of(int rank) const {
    const Range groups = groups_of(rank);
    return {groups.first << log_group_, groups.last << log_group_};
  }
  [[nodiscard]] int owner(std::size_t leaf) const { return contiguous_owner(leaf >> log_group_, groups_, ranks_); }

 private:
  unsigned log_group_ = 0;
  std::size_t groups_ = 1;
  int ranks_ = 1;
};

/// A committed word and its Merkle tree as plain data. A rank has the columns at its positions, and the tree's levels
/// above the leaves from first_leaf on; from level leaves.log_group() on, every rank has them whole.
struct Codeword {
  std::size_t leaf_values = 0;  ///< elements of F in a column
  ResidueShares positions;      ///< of this rank, of a word whose columns are kept
  RawVector<F> columns;         ///< in the order of ResidueShares::place(); empty: not kept
  LeafShares leaves;
  std::size_t first_leaf = 0;     ///< of this rank
  std::vector<TreeLevel> levels;  ///< levels[0] = leaves, levels.back() = {root}; an empty one follows from the leaves
  std::shared_ptr<const LeafExtras> extras = {};
};

/// All levels of a word's tree from this one on, which has all of its nodes. Nodes above no leaf are zero.
std::vector<TreeLevel> tree_above(const WordDomain& domain, unsigned level, TreeLevel nodes);

/// Digests of columns that lie one after the other.
TreeLevel hash_columns(std::span<const F> columns, std::size_t leaf_values);

/// A word that is encoded: columns of `width` elements of F, 2^log_columns of them before they are evaluated.
struct WordShape {
  std::size_t width = 0;
  unsigned log_columns = 0;
  WordDomain domain;
  std::size_t columns = 0;  ///< that are not zero
};

struct RowSink;  // row_groups.hpp
/// Gives each sink all rows at the positions of its list.
using EncodeRows = std::function<void(std::span<const ResidueShares> shares, std::span<const RowSink> sinks)>;

/// Encodes a word and hashes its columns. A rank keeps its columns if it is told to and the domain is whole.
/// Collective; the root does not depend on ranks, ownership or threads.
Codeword encode_word(const WordShape& shape, bool keep_columns, Communicator& comm,
                     std::shared_ptr<const LeafExtras> extras, const EncodeRows& encode);

/// Encodes and hashes a sharded oracle. A rank keeps its columns if it is told to. Collective; the root does not depend
/// on ranks, ownership or threads.
Codeword encode_oracle(const OracleLayout& layout, const OracleParameters& parameters,
                       std::span<const IntegerTensor> tensors, bool keep_columns, Communicator& comm,
                       std::shared_ptr<const LeafExtras> extras = {});

/// A vector of E as a matrix of 2^log_rows rows, the low bits of the index. Ranks share its columns; a rank has those
/// of its classes, in ResidueShares::place() order. Or every rank has all. The last ones may be missing, of every class
/// as many: they are zero.
struct SharedVector {
  std::span<const E> values;
  unsigned log_rows = 0;
  ResidueShares columns;
};

/// Encodes a vector. Ranks share the points of a long word. Columns of one that ranks share, or that a rank has alone,
/// are not kept if they are long but computed again from the vector, as are those of a domain in pieces; the vector
/// must outlive the store then. `extras`: of its leaves. Collective.
std::unique_ptr<CodewordStore> commit_vector(const SharedVector& vector, const WordDomain& domain, Communicator& comm,
                                             std::shared_ptr<const LeafExtras> extras = {});

/// Leaves from their columns and the first `extra` elements of the blocks that follow these.
std::vector<F> with_extras(std::span<const F> columns, std::span<const F> blocks, std::size_t extra);

/// A codeword in memory. Keeps references to the communicator.
class MemoryCodewordStore final : public CodewordStore {
 public:
  using Columns = std::function<std::vector<F>(std::span<const std::size_t> positions)>;
  /// `compute` gives columns that are not kept, the same on every rank. Collective.
  MemoryCodewordStore(Codeword codeword, Communicator& comm, Columns compute = {})
      : codeword_(std::move(codeword)), comm_(comm), compute_(std::move(compute)) {}
  [[nodiscard]] Digest root() const override { return codeword_.levels.back().front(); }
  std::vector<F> columns(std::span<const std::size_t> positions) override;
  std::vector<Digest> nodes(unsigned level, std::span<const std::size_t> indices) override;

 private:
  /// `count` of the owner's `values` for each of `indices`, everywhere: those from place(index) * count on.
  template <class T, class Owner, class Place>
  std::vector<T> from_owners(std::span<const std::size_t> indices, const Owner& owner, const Place& place,
                             std::span<const T> values, std::size_t count);

  Codeword codeword_;
  Communicator& comm_;
  Columns compute_;
};

}  // namespace tessera
