#pragma once

#include <map>

#include "commitment/codeword.hpp"

namespace tessera {

/// Level of the tree whose nodes a compact codeword keeps: the one asked for, or the root's in a small tree.
unsigned compact_level(const OracleLayout& layout, const OracleParameters& parameters, unsigned level = upper_levels);

/// A codeword of which nothing is known but the tree's nodes at one level, a small part of it: opened columns are
/// computed again from the tensors, with those beside them that their authentication paths need.
class CompactCodewordStore final : public CodewordStore {
 public:
  /// `nodes`: those of compact_level(layout, parameters, level), all of them on every rank. References to the tensors
  /// and the communicator are kept.
  CompactCodewordStore(OracleLayout layout, OracleParameters parameters, std::vector<IntegerTensor> tensors,
                       TreeLevel nodes, Communicator& comm, unsigned level = upper_levels);
  [[nodiscard]] Digest root() const override { return upper_.back().front(); }
  /// Throws InputError, on all ranks, if the tensors are not those that the nodes were made from.
  std::vector<F> columns(std::span<const std::size_t> positions) override;
  /// Of lower levels those only that authenticate the columns asked for last.
  std::vector<Digest> nodes(unsigned level, std::span<const std::size_t> indices) override;

 private:
  OracleLayout layout_;
  OracleParameters parameters_;
  std::vector<IntegerTensor> tensors_;
  unsigned level_;
  std::vector<TreeLevel> upper_;                         // from level_ on
  std::map<std::size_t, std::vector<TreeLevel>> lower_;  // by node of level_: the levels below it, and it
  Communicator& comm_;
};

}  // namespace tessera
