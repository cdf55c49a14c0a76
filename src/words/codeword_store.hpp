#pragma once

#include <memory>

#include "words/oracle.hpp"

namespace tessera {

class ResidueShares;  // residue_shares.hpp

/// The prover's view of a committed oracle's codeword: columns and authentication paths by position, from memory or
/// file. With several ranks every rank answers for the positions it holds; the calls are collective.
class CodewordStore {
 public:
  virtual ~CodewordStore() = default;
  [[nodiscard]] virtual Digest root() const = 0;
  /// The columns at `positions` (a value of each row, concatenated), the same on every rank.
  virtual std::vector<F> columns(std::span<const std::size_t> positions) = 0;
  /// Nodes of the tree, level 0 = leaves; the same on every rank.
  virtual std::vector<Digest> nodes(unsigned level, std::span<const std::size_t> indices) = 0;
};

/// A codeword of more bytes a rank than this is not kept between commitment and opening, nor ever whole in memory: what
/// is opened is computed again, for a fifth of the time that encoding takes.
inline constexpr std::size_t default_codeword_budget = std::size_t{1} << 24;

/// What follows the columns in their leaves (hiding mode): in a block of the hash for each of them some elements of F,
/// then zeros.
class LeafExtras {
 public:
  static constexpr std::size_t block = 8;
  explicit LeafExtras(std::size_t count) : count_(count) {}
  virtual ~LeafExtras() = default;
  LeafExtras(const LeafExtras&) = delete;
  LeafExtras& operator=(const LeafExtras&) = delete;
  /// Elements of F in a block.
  [[nodiscard]] std::size_t count() const { return count_; }
  /// The blocks of the leaves at these classes of a rank's points, class after class.
  virtual void fill(const WordDomain& domain, const ResidueShares& positions, Range classes,
                    std::span<F> blocks) const = 0;
  /// The blocks of these leaves.
  [[nodiscard]] virtual std::vector<F> at(std::span<const std::size_t> positions) const = 0;

 private:
  std::size_t count_;
};

/// Encodes and hashes the tensors (in layout order; views of what this rank holds, which must outlive the store). Keeps
/// the codeword if its domain is whole and it has at most `budget` bytes a rank. Collective.
std::unique_ptr<CodewordStore> commit_oracle(const OracleLayout& layout, const OracleParameters& parameters,
                                             std::span<const IntegerTensor> tensors, Communicator& comm,
                                             std::size_t budget = default_codeword_budget,
                                             std::shared_ptr<const LeafExtras> extras = {});

}  // namespace tessera
