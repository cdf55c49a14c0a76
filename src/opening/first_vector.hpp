#pragma once

#include "opening/opening.hpp"
#include "opening/vector_forms.hpp"
#include "words/residue_shares.hpp"
#include "memory/storage.hpp"
#include "sumcheck/dense.hpp"

namespace tessera {

/// How ranks share v_0, a matrix of 2^folding rows: by classes of columns. Not at all if it is too small for that, or a
/// segment of it.
ResidueShares shares_of_first_vector(const OpeningSchedule& schedule, const Communicator& comm);

/// How many of v_0's entries this rank has: those up to the last that is used, the same number in every class; all of
/// its classes' if ranks have several.
std::size_t share_size(const OpeningSchedule& schedule, const ResidueShares& columns);

/// v_0, the oracles with their rows bound. Of `columns`, this rank's: place after place. Collective.
ZeroedVector<E> first_vector(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles,
                             std::span<const OracleWitness> witnesses, const BoundVariables& bound,
                             const ResidueShares& columns, Communicator& comm);

/// A vector and the weights of the claims on it. Ranks may share its columns, one all-reduce a round, down to vectors
/// whose rounds are too short to be worth a message.
class VectorSummand final : public Summand {
 public:
  VectorSummand(ZeroedVector<E> values, ZeroedVector<E> weights, ResidueShares columns, Communicator& comm);
  [[nodiscard]] std::size_t degree() const override { return products_.degree(); }
  [[nodiscard]] bool homogeneous() const override { return products_.homogeneous(); }
  RoundSums first(bool with_one) override { return reduced(products_.first(with_one)); }
  RoundSums bind(E challenge, bool with_one) override { return reduced(products_.bind(challenge, with_one)); }
  void end(E challenge) override { products_.end(challenge); }

  [[nodiscard]] const DenseTable& values() const { return products_.table(0); }
  [[nodiscard]] std::span<E> weights() const { return products_.table(1).span(); }
  /// Which of the 2^log_columns columns that the values have in this round are this rank's.
  [[nodiscard]] ResidueShares columns(unsigned log_columns) const;
  /// Once all rows are bound: the next vector, which is zero from `used` on, and its weights. Ranks share its columns,
  /// or have all of it and as many zeros as rounds need. Collective.
  void next(std::uint64_t used);
  /// Once all rows are bound: every rank gets the whole next vector, of 2^log_size entries, and its weights.
  /// Collective.
  void gather(unsigned log_size);

 private:
  [[nodiscard]] bool shared() const { return columns_.log_count() > 0; }
  RoundSums reduced(RoundSums sums);
  void distribute(const ResidueShares& columns, std::size_t size);
  /// Distributes values that are one a column, of all ranks: returns the `size` entries of the next vector that lie in
  /// this rank's `columns` of it. Collective.
  [[nodiscard]] DenseTable distributed(const DenseTable& mine, const ResidueShares& columns, std::size_t size) const;
  /// Zeros behind a vector that this rank has already, up to `size` entries.
  void extend(std::size_t size);

  ResidueShares columns_;
  Communicator& comm_;
  DenseSummand products_;
};

}  // namespace tessera
