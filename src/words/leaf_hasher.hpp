#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "words/codeword.hpp"
#include "words/residue_shares.hpp"
#include "field/ntt.hpp"

namespace tessera {

/// Leaves of a word at a rank's positions, some classes of them at a time.
class LeafHasher {
 public:
  LeafHasher(const WordShape& word, const ResidueShares& positions, const LeafExtras* extras)
      : domain_(word.domain), positions_(positions), width_(word.width), extras_(extras) {}

  /// The next rows of these classes. `values` may be overwritten once they are the last ones.
  void absorb(Range classes, Range rows, std::span<F> values);

  /// Absorbs the next rows of these classes in blocks, in any order, by any thread, between begin() and end(). Until
  /// end(), leaves stand in the order of the transform's memory.
  void begin(Range classes, Range rows);
  void absorb(std::size_t number, const ValueBlock& block);
  /// `scratch`: memory that may be overwritten after the last rows.
  void end(Range classes, Range rows, std::span<F> scratch = {});

  /// The leaves' digests, in the order of ResidueShares::place(); of a rank that is alone, in that of the tree. What
  /// values were encoded in may be freed before, for leaves of several classes move.
  TreeLevel leaves() &&;
  /// The digests of a class that is a coset of 2^log_pieces pieces of a domain, piece after piece, of those that are
  /// wanted; the first piece is 0.
  void leaves_by_piece(unsigned log_pieces, Range wanted, std::span<Digest> to) &&;

 private:
  /// Leaves of some classes, in the order of their transform.
  struct Part {
    Range classes;
    TreeLevel digests;
  };
  void absorb_extras(Range classes, std::span<F> scratch);
  void place(const Part& part, TreeLevel& leaves) const;
  /// Where the digest of position i of a class goes: to(i, digest). `from`: those of the class.
  template <class To>
  void in_order(const Digest* from, const To& to) const;

  WordDomain domain_;
  ResidueShares positions_;
  std::size_t width_;
  const LeafExtras* extras_;
  std::vector<Part> parts_;
  std::optional<ColumnHasher> hasher_;
  std::mutex mutex_;
  std::optional<unsigned> log_distance_;  ///< of blocks
};

}  // namespace tessera
