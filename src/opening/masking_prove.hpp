#pragma once

#include "opening/first_vector.hpp"
#include "opening/masking.hpp"
#include "opening/vector_masks.hpp"
#include "transcript/transcript.hpp"

namespace tessera {

/// What all steps of one opening work with.
struct OpeningRun {
  ProverTranscript& transcript;
  const OpeningSchedule& schedule;
  Communicator& comm;
};

/// c_0 + sum_i c_i1*x_i + c_i2*x_i^2, which masks the rounds over as many variables; nothing of none.
class MaskRounds {
 public:
  MaskRounds() = default;
  /// c_0, c_11, c_12, c_21, ..
  explicit MaskRounds(std::vector<E> masks)
      : masks_(std::move(masks)), free_(static_cast<unsigned>(masks_.size() / 2)), fixed_(masks_.front()) {}
  /// 1/2: a constant counts half each time a variable is bound, since it stands in sums over both values of a variable.
  static E half() { return E(F::from_canonical(2).inverse()); }
  /// Over all values of the variables that are free.
  [[nodiscard]] E sum() const;
  void bind(E challenge);
  /// A round's sums with this in them.
  [[nodiscard]] RoundSums add_to(RoundSums sums) const;

 private:
  /// What the variable that is free next has: c_i1 and c_i2.
  [[nodiscard]] std::size_t next() const { return masks_.size() - 2 * std::size_t{free_}; }

  std::vector<E> masks_;
  unsigned free_ = 0;
  E fixed_;  // c_0 and the masks of bound variables
};

/// What the prover of an opening sends beside claims, as Masking receives it: in a plain opening nothing.
class ProverMasking {
 public:
  ProverMasking() = default;
  virtual ~ProverMasking() = default;
  ProverMasking(const ProverMasking&) = delete;
  ProverMasking& operator=(const ProverMasking&) = delete;

  /// Terms that stand before the opened columns where they are batched.
  [[nodiscard]] virtual unsigned terms() const { return 0; }
  /// Fills the columns behind a vector's own, which is committed to next, of `columns`, this rank's; adds the weights
  /// that these columns' masks have in the vector before. Result: what follows columns in leaves.
  virtual std::shared_ptr<const LeafExtras> fill(std::size_t /*round*/, VectorSummand& /*vector*/,
                                                 const ResidueShares& /*columns*/) {
    return nullptr;
  }
  /// Sends the sum of a vector's masks over its rows.
  virtual void send_sum(std::size_t /*round*/) {}
  /// The masks of a vector's rows with their coefficient in the batch.
  [[nodiscard]] virtual MaskRounds of_rounds(std::size_t /*round*/, E /*delta*/) const { return {}; }
  /// Notes at which point a vector's rows were bound.
  virtual void rows_bound(std::size_t /*round*/, E /*delta*/, const BoundVariables& /*bound*/) {}
  /// Masks the vector that is sent in clear; what the claim on it becomes.
  virtual E mask_clear(VectorSummand& /*vector*/, E claim) { return claim; }
};

/// The masking of hiding proofs and renewals.
class HidingProverMasking final : public ProverMasking {
 public:
  /// Keeps references.
  HidingProverMasking(const OpeningRun& run, const VectorMasks& masks) : run_(run), masks_(masks) {}
  [[nodiscard]] unsigned terms() const override { return 1; }
  std::shared_ptr<const LeafExtras> fill(std::size_t round, VectorSummand& vector,
                                         const ResidueShares& columns) override;
  void send_sum(std::size_t round) override;
  [[nodiscard]] MaskRounds of_rounds(std::size_t round, E delta) const override;
  void rows_bound(std::size_t round, E delta, const BoundVariables& bound) override;
  E mask_clear(VectorSummand& vector, E claim) override;

 private:
  const OpeningRun& run_;
  const VectorMasks& masks_;
  PlaceWeights before_;  // of the round before, whose mask columns are values now
};

}  // namespace tessera
