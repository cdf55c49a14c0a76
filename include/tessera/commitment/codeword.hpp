#pragma once

#include <tessera/commitment/merkle_tree.hpp>
#include <tessera/commitment/opening.hpp>

namespace tessera {

/// A committed word and its Merkle tree as plain data, so that it can be stored. A rank holds the codeword columns
/// [first_column, first_column + columns.size() / leaf_values) and the whole tree.
struct Codeword {
  std::size_t leaf_values = 0;              ///< elements of F in a column
  unsigned log_columns = 0;                 ///< the codeword has 2^log_columns columns (leaves)
  std::size_t first_column = 0;             ///< of this rank
  std::vector<F> columns;                   ///< leaf after leaf
  std::vector<std::vector<Digest>> levels;  ///< levels[0] = leaves, levels.back() = {root}
};

/// The columns that a rank holds: contiguous ranges in rank order.
std::size_t first_column_of_rank(unsigned log_columns, int rank, int ranks);

/// Encodes and hashes a sharded oracle. Collective; the root does not depend on ranks, ownership or threads.
Codeword encode_oracle(const OracleLayout& layout, const OracleParameters& parameters,
                       std::span<const IntegerTensor> tensors, Communicator& comm);
/// Encodes a vector of E as 2^log_rows rows (low bits of the index). Not collective.
Codeword encode_vector(std::span<const E> vector, unsigned log_rows, unsigned log_inverse_rate);

/// A codeword in memory. Keeps references to the communicator.
class MemoryCodewordStore final : public CodewordStore {
 public:
  MemoryCodewordStore(Codeword codeword, Communicator& comm) : codeword_(std::move(codeword)), comm_(comm) {}
  [[nodiscard]] const Codeword& codeword() const { return codeword_; }
  [[nodiscard]] Digest root() const override { return codeword_.levels.back().front(); }
  std::vector<F> columns(std::span<const std::size_t> positions) override;
  std::vector<Digest> nodes(unsigned level, std::span<const std::size_t> indices) override;

 private:
  Codeword codeword_;
  Communicator& comm_;
};

}  // namespace tessera
