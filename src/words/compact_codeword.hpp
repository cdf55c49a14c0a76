#pragma once

#include <map>

#include "base/errors.hpp"
#include "words/codeword.hpp"

namespace tessera {

/// A column that is computed again is another one than the committed one.
class WrongColumn : public InputError {
 public:
  using InputError::InputError;
};

/// Throws WrongColumn unless `leaves` are the digests of the columns at `positions`: then these were computed from
/// other values than the committed ones.
void check_columns(std::span<const F> columns, std::span<const std::size_t> positions, std::span<const Digest> leaves);

/// How many nodes a compact codeword keeps: those above pairs of leaves.
std::size_t compact_nodes(const OracleLayout& layout, const OracleParameters& parameters);

/// A codeword of which nothing is known but the tree's nodes above pairs of leaves: opened columns are computed again
/// from the tensors, with those beside them that their authentication paths need.
class CompactCodewordStore final : public CodewordStore {
 public:
  /// `nodes`: compact_nodes() of them, all on every rank. References to the tensors and the communicator are kept.
  CompactCodewordStore(OracleLayout layout, OracleParameters parameters, std::vector<IntegerTensor> tensors,
                       TreeLevel nodes, Communicator& comm);
  [[nodiscard]] Digest root() const override { return upper_.back().front(); }
  /// Throws WrongColumn, on all ranks, if the tensors are not those that the nodes were made from.
  std::vector<F> columns(std::span<const std::size_t> positions) override;
  /// Digests of a level of the tree. Below the stored levels there are those only that authenticate the columns asked
  /// for last.
  std::vector<Digest> nodes(unsigned level, std::span<const std::size_t> indices) override;

 private:
  OracleLayout layout_;
  OracleParameters parameters_;
  std::vector<IntegerTensor> tensors_;
  std::vector<TreeLevel> upper_;             // from level 1 on
  std::map<std::size_t, TreeLevel> leaves_;  // by node of level 1: its two
  Communicator& comm_;
};

}  // namespace tessera
