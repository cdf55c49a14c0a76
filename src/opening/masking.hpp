#pragma once

#include "opening/schedule.hpp"
#include "opening/vector_forms.hpp"
#include "transcript/verifier.hpp"

/// \file
/// The opening of hiding proofs: what differs from opening.hpp. All oracles have rates of at most 1/2; their leaves
/// have salt after the column. Of a proof oracles are parameters and witness; of a renewal the parameters under the old
/// key, under the new one, and nothing but masks. The last oracle has the masks of the rounds over row variables.
///
///   |  # | from | message                                                                                           |
///   |  0 | P    | masked sum: the row masks' sum over all rows                                                      |
///   |  1 | V    | eta, gamma. Constraints const + sum c*cell = 0 are combined by powers of eta and become, with the |
///   |    |      | hidden parts of all claims' values, one weight on cells. Target: masked sum (coefficient 1) +     |
///   |    |      | claims (gamma, gamma^2, ..) + the constraints' constants (the next power), public                  |
///   |  2 | P, V | K rounds over row variables. All of the target is there at the beginning: an oracle with fewer rows|
///   |    |      | is constant in the first K - k_j variables, and its weights carry 2^-(K - k_j). The row masks are  |
///   |    |      | c_0 + sum_i c_i1*x_i + c_i2*x_i^2, c the elements of E in the mask columns                        |
///   |  3 | P    | v_t is committed to with columns behind its own: 9 masks c_0, c_11, c_12, .., c_42, the same in   |
///   |    |      | all 16 rows, then random ones, one more than there are positions. At least one vector is committed |
///   |    |      | to; leaves of the last one also have g, a random vector as long as the one in clear, at their point|
///   |  - | P    | masked sum: s = sum of c_0 + sum_i c_i1*x_i + c_i2*x_i^2 over the 16 rows                         |
///   |  6 | V    | delta: s has coefficient delta, the opened columns delta^2, delta^3, ..                           |
///   |  7 | P, V | rounds over v_t's rows, the masks with coefficient delta. Mask columns are values of v_{t+1}, where|
///   |    |      | their weights are delta*(1, x_1, x_1^2, .., x_4^2) at the challenges                              |
///   |  - | P    | instead of 3, once v_t has <= 2560 values: vector mask: <W, g>, W all weights on v_t              |
///   |  - | V    | epsilon. claim := epsilon*claim + that                                                            |
///   |  8 | P    | epsilon*v_t + g in clear; then 4, 5                                                               |
///   |  9 | V    | checks epsilon*(each opened column's value) + g at its leaf                                       |
///
/// Everything else is as it is in opening.hpp.
namespace tessera {

/// Weights of masks c_0, c_11, c_12, c_21, .. where these variables are bound: the one that was bound first is last.
std::vector<E> mask_weights(std::span<const E> point);

/// The weights of row masks on v_0, where all row variables are bound: each is two values in `tensor` of the last
/// oracle.
PlaceWeights row_mask_weights(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles,
                              std::size_t tensor, const BoundVariables& bound);
/// The weights of the masks of vectors[round]'s rows on the vector that is left once these are bound.
PlaceWeights round_mask_weights(const OpeningSchedule& schedule, std::size_t round, E delta,
                                const BoundVariables& bound);

/// The coefficient of the first opened column where so many terms stand before it.
E first_coefficient(E delta, unsigned terms);

/// What an opening's messages have beside claims, as its verifier receives them: in a plain opening nothing.
class Masking {
 public:
  Masking() = default;
  virtual ~Masking() = default;
  Masking(const Masking&) = delete;
  Masking& operator=(const Masking&) = delete;

  /// Terms that stand before the opened columns where they are batched.
  [[nodiscard]] virtual unsigned terms() const { return 0; }
  /// The masks' sum over the variables that are bound next.
  virtual E receive_sum(VerifierView<E>& /*transcript*/) { return E::zero(); }
  /// The forms that masks of row variables are.
  virtual void add_row_forms(const BoundVariables& /*bound*/, std::vector<VectorForm>& /*forms*/) const {}
  /// The forms that masks of vectors[round]'s rows are, once these are bound.
  virtual void add_round_forms(std::size_t /*round*/, E /*delta*/, const BoundVariables& /*bound*/,
                               std::vector<VectorForm>& /*forms*/) const {}
  /// What the claim becomes on the vector in clear as it is sent.
  virtual E mask_claim(VerifierView<E>& /*transcript*/, E claim) { return claim; }
  /// What opened columns claim of the vector in clear as it is sent.
  virtual void mask_columns(PowerClaims& /*claims*/, const OpenedColumns& /*opened*/) const {}
};

/// The masking of hiding proofs and renewals.
class HidingMasking final : public Masking {
 public:
  /// Keeps references. `tensor`: of the last oracle, which holds the row masks.
  HidingMasking(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles, std::size_t tensor)
      : schedule_(schedule), oracles_(oracles), tensor_(tensor) {}
  [[nodiscard]] unsigned terms() const override { return 1; }
  E receive_sum(VerifierView<E>& transcript) override { return transcript.receive("masked sum"); }
  void add_row_forms(const BoundVariables& bound, std::vector<VectorForm>& forms) const override;
  void add_round_forms(std::size_t round, E delta, const BoundVariables& bound,
                       std::vector<VectorForm>& forms) const override;
  E mask_claim(VerifierView<E>& transcript, E claim) override;
  void mask_columns(PowerClaims& claims, const OpenedColumns& opened) const override;

 private:
  /// The word that is opened against the vector in clear.
  [[nodiscard]] const CommittedWord& last_word() const {
    return schedule_.opened_in_round(schedule_.vectors.size()).front();
  }

  const OpeningSchedule& schedule_;
  std::span<const CommittedOracle> oracles_;
  std::size_t tensor_;
  E epsilon_;
};

}  // namespace tessera
