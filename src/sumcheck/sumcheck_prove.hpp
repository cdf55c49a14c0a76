#pragma once

#include <optional>

#include "sumcheck/round_kernel.hpp"
#include "sumcheck/sumcheck.hpp"

namespace tessera {

/// What is summed in a sum-check, as its driver sees it: tables over the variables that are still free, in whatever
/// form, and the eq factor's weights if there is one. Implemented over dense tables (dense.hpp), sharded chunks
/// (chunked.hpp), the levels of the look-up's tree and the oracles of an opening.
class Summand {
 public:
  virtual ~Summand() = default;
  /// See Relation.
  [[nodiscard]] virtual std::size_t degree() const = 0;
  [[nodiscard]] virtual bool homogeneous() const = 0;
  /// The sums of the next round, nothing being left to bind. `with_one`: h(1) is wanted.
  virtual RoundSums first(bool with_one) = 0;
  /// Binds the last free variable to the challenge, then the next round's sums. Some variable is left.
  virtual RoundSums bind(E challenge, bool with_one) = 0;
  /// Binds the last free variable, no round follows or first() comes next.
  virtual void end(E challenge) = 0;
};

/// Work before a round's challenge; collective where there is any.
struct RoundWork {
  unsigned bits = 0;
  Communicator* comm = nullptr;
};

/// The prover's side of verify_sumcheck and verify_eq_sumcheck: transcript, running claim, round polynomials.
class SumcheckProver {
 public:
  /// `claim`: if it is known; h(1) of the first round follows from it.
  SumcheckProver(ProverTranscript& transcript, Summand& summand, std::optional<E> claim = {})
      : transcript_(transcript), summand_(summand), claim_(claim) {}
  /// Sends a round polynomial; returns the challenge for its variable. `a`: the coordinate of the eq factor, if there
  /// is one.
  E round(std::optional<E> a = {}, const RoundWork& work = {});
  /// Binds the variable of the last round, so that the summand may be looked at or changed.
  void settle();
  /// Adds to a claim that is known.
  void add_to_claim(E value) { *claim_ += value; }
  /// The claim that is left after the last round, or that was known before the first one.
  [[nodiscard]] E claim() const { return *claim_; }

 private:
  ProverTranscript& transcript_;
  Summand& summand_;
  std::optional<E> claim_;
  std::optional<E> challenge_;  // not bound yet
};

/// All rounds of claim = sum_x g(x), or of sum_x beta(at, x)*g(x) if `at` is not empty, and the end: the point.
Point prove_rounds(ProverTranscript& transcript, Summand& summand, std::size_t variables, std::span<const E> at,
                   std::optional<E> claim = {});

/// Coefficients h_1 .. h_degree of the polynomial with these values at 0 .. degree; the last entry may be its leading
/// coefficient instead.
std::vector<E> higher_coefficients(std::span<const E> values, bool ends_in_leading = false);

/// A proven sum-check: point and value as the verifier's, and every factor's value at the point.
struct ProvenSumcheck {
  Point point;
  std::vector<E> factors;
};

}  // namespace tessera
