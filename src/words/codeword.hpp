#pragma once

#include <functional>
#include "hash/merkle_tree.hpp"
#include "words/residue_shares.hpp"
#include "words/codeword_store.hpp"
#include "memory/storage.hpp"

namespace tessera {

/// A committed word and its Merkle tree as plain data. A rank has the columns at its positions, and the tree's levels
/// above the leaves from first_leaf on; from level `local_levels` on, every rank has them whole.
struct Codeword {
  std::size_t leaf_values = 0;    ///< elements of F in a column
  unsigned log_columns = 0;       ///< the codeword has 2^log_columns columns (leaves)
  ResidueShares positions;        ///< of this rank
  RawVector<F> columns;           ///< in the order of ResidueShares::place(); empty: not kept
  std::size_t first_leaf = 0;     ///< of this rank
  std::vector<TreeLevel> levels;  ///< levels[0] = leaves, levels.back() = {root}; an empty one follows from the leaves
  unsigned local_levels = 0;      ///< lower levels begin above first_leaf
  std::shared_ptr<const LeafExtras> extras = {};
};

/// Levels from this one on are kept, those between it and the leaves follow from these.
inline constexpr unsigned upper_levels = 5;

/// log2 of the leaves that stay on one rank: a rank holds whole groups, each with the tree above it, at least as high
/// as upper_levels. Large ones: what is above them is every rank's work.
unsigned log_group_of_columns(unsigned log_columns, int ranks);
/// The leaves that a rank holds: contiguous ranges in rank order.
Range columns_of_rank(unsigned log_columns, int rank, int ranks);
int rank_of_column(std::size_t column, unsigned log_columns, int ranks);

/// Digests of columns that lie one after the other.
TreeLevel hash_columns(std::span<const F> columns, std::size_t leaf_values);

/// A word that is encoded: columns of `width` elements of F, 2^log_columns of them before they are evaluated on
/// 2^log_inverse_rate times as many points.
struct WordShape {
  std::size_t width = 0;
  unsigned log_columns = 0;
  unsigned log_inverse_rate = 0;
  [[nodiscard]] unsigned log_domain() const { return log_columns + log_inverse_rate; }
};

struct RowSink;  // row_groups.hpp
/// Gives the sink all rows at these positions.
using EncodeRows = std::function<void(const ResidueShares& positions, const RowSink& sink)>;

/// Encodes a word and hashes its columns. A rank keeps its columns if it is told to. Collective; the root does not
/// depend on ranks, ownership or threads.
Codeword encode_word(const WordShape& shape, bool keep_columns, Communicator& comm,
                     std::shared_ptr<const LeafExtras> extras, const EncodeRows& encode);

/// Encodes and hashes a sharded oracle. A rank keeps its columns if it is told to. Collective; the root does not depend
/// on ranks, ownership or threads.
Codeword encode_oracle(const OracleLayout& layout, const OracleParameters& parameters,
                       std::span<const IntegerTensor> tensors, bool keep_columns, Communicator& comm,
                       std::shared_ptr<const LeafExtras> extras = {});
/// The tree above the leaves at this rank's positions, in the order of ResidueShares::place(). Collective.
Codeword hashed_codeword(std::size_t leaf_values, const ResidueShares& positions, TreeLevel leaves, Communicator& comm);

/// A vector of E as a matrix of 2^log_rows rows, the low bits of the index. Ranks share its columns; a rank has those
/// of its classes, in ResidueShares::place() order. Or every rank has all. The last ones may be missing, of every class
/// as many: they are zero.
struct SharedVector {
  std::span<const E> values;
  unsigned log_rows = 0;
  ResidueShares columns;
};

/// Encodes a vector. Ranks share the positions of a long word. Columns of one that ranks share, or that a rank has
/// alone, are not kept if they are long but computed again from the vector, which then must outlive the store.
/// `extras`: of its leaves. Collective.
std::unique_ptr<CodewordStore> commit_vector(const SharedVector& vector, unsigned log_inverse_rate, Communicator& comm,
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
