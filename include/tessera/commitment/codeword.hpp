#pragma once

#include <functional>
#include <tessera/commitment/merkle_tree.hpp>
#include <tessera/commitment/opening.hpp>
#include <tessera/memory/storage.hpp>

namespace tessera {

/// A committed word and its Merkle tree as plain data, so that it can be stored. A rank holds the codeword columns
/// [first_column, first_column + columns.size() / leaf_values) and the whole tree.
struct Codeword {
  std::size_t leaf_values = 0;              ///< elements of F in a column
  unsigned log_columns = 0;                 ///< the codeword has 2^log_columns columns (leaves)
  std::size_t first_column = 0;             ///< of this rank
  RawVector<F> columns;                     ///< leaf after leaf
  std::vector<std::vector<Digest>> levels;  ///< levels[0] = leaves, levels.back() = {root}; empty: not kept
};

/// Lower levels of a tree are quickly computed again from the columns under a node; a witness's tree is kept from this
/// level on. Ranks hold whole groups of 2^upper_levels columns.
inline constexpr unsigned upper_levels = 5;

/// The columns that a rank holds: contiguous ranges in rank order.
std::size_t first_column_of_rank(unsigned log_columns, int rank, int ranks);
int rank_of_column(std::size_t column, unsigned log_columns, int ranks);

/// Digests of columns that lie one after the other.
std::vector<Digest> hash_columns(std::span<const F> columns, std::size_t leaf_values);

/// Encodes a sharded oracle; no tree. Collective.
Codeword encode_columns(const OracleLayout& layout, const OracleParameters& parameters,
                        std::span<const IntegerTensor> tensors, Communicator& comm);
/// Hashes the columns; keeps the levels from `first_level` <= upper_levels on. Collective.
void hash_tree(Codeword& codeword, unsigned first_level, Communicator& comm);

/// Encodes and hashes a sharded oracle. Collective; the root does not depend on ranks, ownership or threads.
Codeword encode_oracle(const OracleLayout& layout, const OracleParameters& parameters,
                       std::span<const IntegerTensor> tensors, Communicator& comm);
/// Encodes a vector of E as 2^log_rows rows (low bits of the index). Not collective.
Codeword encode_vector(std::span<const E> vector, unsigned log_rows, unsigned log_inverse_rate);

/// A codeword in memory. Keeps references to the communicator.
class MemoryCodewordStore final : public CodewordStore {
 public:
  /// `encode` makes columns that are not kept, when they are first asked for. Collective.
  MemoryCodewordStore(Codeword codeword, Communicator& comm, std::function<RawVector<F>()> encode = {})
      : codeword_(std::move(codeword)), comm_(comm), encode_(std::move(encode)) {}
  [[nodiscard]] const Codeword& codeword() const { return codeword_; }
  [[nodiscard]] Digest root() const override { return codeword_.levels.back().front(); }
  std::vector<F> columns(std::span<const std::size_t> positions) override;
  std::vector<Digest> nodes(unsigned level, std::span<const std::size_t> indices) override;

 private:
  /// visit(columns under node `index` of `level`, mine) appends `count` values on the rank that holds the columns;
  /// gives all of them in the order of `indices`, everywhere.
  template <class T, class Visit>
  std::vector<T> from_owners(std::span<const std::size_t> indices, unsigned level, std::size_t count,
                             const Visit& visit);

  Codeword codeword_;
  Communicator& comm_;
  std::function<RawVector<F>()> encode_;
};

}  // namespace tessera
