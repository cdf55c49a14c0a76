#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include "commitment/bound_claims.hpp"
#include "commitment/hiding_batch.hpp"
#include "commitment/opened_columns.hpp"
#include "commitment/opening.hpp"
#include "commitment/weights.hpp"
#include "sumcheck/sumcheck.hpp"

namespace tessera {
namespace {

/// The verifier of one opening: a running claim on what is bound so far. Steps are numbered as in opening.hpp.
class Opening {
 public:
  Opening(VerifierView<E>& transcript, std::span<const CommittedOracle> oracles)
      : transcript_(transcript),
        oracles_(oracles),
        schedule_(opening_schedule(oracles)),
        bound_(schedule_.row_variables) {
    for (const CommittedOracle& oracle : oracles) {
      roots_.push_back(oracle.root);
    }
  }

  /// Step 1: each oracle's claims become one.
  void batch_claims(std::span<const std::vector<Claim>> claims) {
    const std::size_t count = add_forms(claims);
    const E gamma = transcript_.challenge("batch claims", static_cast<double>(std::max<std::size_t>(count, 1) - 1),
                                          "batching of " + std::to_string(count) + " claims");
    targets_ = batch_values(oracles_, claims, gamma);
    E power = E::one();
    for (const auto& list : claims) {
      std::vector<E>& coefficients = coefficients_.emplace_back();
      for (std::size_t i = 0; i < list.size(); ++i) {
        coefficients.push_back(power);
        power *= gamma;
      }
    }
  }
  /// Receives the `masked sum` before step 1 of hiding proofs and renewals. `tensor`: that of the carrier which holds
  /// the row masks.
  void receive_masked_sum(std::size_t tensor) {
    masks_ = tensor;
    claim_ = transcript_.receive("masked sum");
  }
  /// Step 1 of a hiding proof.
  void batch_claims(std::span<const std::vector<ClaimOf<Affine>>> claims, const HidingClaims& hiding) {
    const E eta = transcript_.challenge("batch constraints", static_cast<double>(hiding.constraints.size() - 1),
                                        "batching of " + std::to_string(hiding.constraints.size()) + " constraints");
    const std::size_t count = add_forms(claims);
    const E gamma = transcript_.challenge("batch claims", static_cast<double>(count + 1),
                                          "batching of " + std::to_string(count) + " claims, constraints and masks");
    take(batch_hidden(schedule_, oracles_, claims, hiding, eta, gamma));
  }
  /// Step 1 of a renewal: the forms' values in oracles 0 and 1 are equal.
  void batch_differences(std::span<const LinearForm> forms) {
    const E gamma = transcript_.challenge("batch claims", static_cast<double>(forms.size()),
                                          "batching of " + std::to_string(forms.size()) + " tensors and masks");
    forms_.resize(oracles_.size());
    for (const LinearForm& form : forms) {
      forms_[0].push_back(&form);
      forms_[1].push_back(&form);
    }
    take(tessera::batch_differences(schedule_, forms.size(), gamma));
  }

  /// Step 2: the sum-check over the oracles' row variables, which the oracle with most rows begins.
  void bind_row_variables() {
    for (unsigned round = 0; round < schedule_.row_variables; ++round) {
      for (std::size_t j = 0; j < oracles_.size(); ++j) {
        if (!masks_ && round == schedule_.row_variables - schedule_.oracles[j].log_rows) {
          claim_ += targets_[j];
        }
      }
      bind_row(0);
    }
  }

  /// Steps 3 to 7: the next vector is committed, the words before it are opened against it, its rows are bound.
  void verify_vector(std::size_t round) {
    const Digest root = transcript_.receive_digest("root");
    const E masked = masks_ ? transcript_.receive("masked sum") : E::zero();
    std::vector<PowerClaims> added = receive_openings(round);
    const E delta = transcript_.challenge("batch columns", static_cast<double>(columns_ + (masks_ ? 1 : 0)),
                                          name(round) + ": batching of bound columns");
    claim_ += delta * masked + assign_coefficients(added, delta, masks_ ? delta * delta : delta);
    powers_.insert(powers_.end(), added.begin(), added.end());
    for (unsigned i = 0; i < OpeningSchedule::folding; ++i) {
      bind_row(round + 1);
    }
    if (masks_) {
      PlaceWeights& of_masks = vector_masks_.emplace_back(
          PlaceWeights{(round + 1) * OpeningSchedule::folding, schedule_.vectors[round].fresh,
                       mask_weights(bound_.latest(OpeningSchedule::folding))});
      for (E& weight : of_masks.weights) {
        weight *= delta;
      }
    }
    roots_ = {root};
  }

  /// Steps 8 and 9, in place of 3 to 7: the last vector is in clear.
  void verify_clear_vector() {
    const std::size_t round = schedule_.vectors.size();
    if (masks_) {  // a random vector is added to it
      const E sum = transcript_.receive("vector mask");
      const CommittedWord& word = schedule_.opened_in_round(round).front();
      epsilon_ = transcript_.challenge("mask", 1 + std::exp2(word.log_domain()),
                                       name(round) + ": mask of the clear vector, proximity");
      claim_ = claim_ * epsilon_ + sum;
    }
    clear_ = transcript_.receive_public("clear", static_cast<std::size_t>(schedule_.clear_size));
    for (const PowerClaims& word : receive_openings(round)) {
      transcript_.check_public([&] { return word.hold_for(clear_); }, "the clear vector differs from an opened column");
    }
  }

  /// Step 10: the sum-check over the clear vector's variables, and all claims at the point where it ends.
  void check_final_claim() {
    for (unsigned i = 0; i < schedule_.log_clear; ++i) {
      bind(round_degree, "final sum-check");
    }
    const E expected = transcript_.public_value([&] { return clear_value() * weight(); });
    transcript_.check_equal(claim_, expected, "the opening's final claim does not hold");
  }

  [[nodiscard]] std::size_t vectors() const { return schedule_.vectors.size(); }

 private:
  static constexpr std::size_t round_degree = 2;
  static std::string name(std::size_t round) { return "round " + std::to_string(round); }

  /// A row variable of the words that are opened in this round: a word without a message has one for at most as many
  /// challenges as its domain has points.
  void bind_row(std::size_t round) {
    bind(static_cast<double>(schedule_.row_error(round)),
         name(round) + ": row variables bound, sum-check and proximity", schedule_.row_work(round));
  }

  /// A round of plain sum-check, with bits of work before its challenge if there are any.
  void bind(double error, const std::string& reason, unsigned work = 0) {
    transcript_.sumcheck(1, round_degree);
    const std::vector<E> round = transcript_.receive("round", round_degree);
    if (work > 0) {
      transcript_.check_work("work", work);
    }
    const E challenge = transcript_.challenge("bind", error, reason);
    const E half = E(F::from_canonical(2).inverse());
    claim_ = round_value<E>(claim_ * half, half, round, challenge);
    bound_.push(challenge);
  }

  /// Steps 4 and 5: the claims that this round's columns make, at positions that are all drawn before any is received.
  std::vector<PowerClaims> receive_openings(std::size_t round) {
    transcript_.check_work("work", schedule_.grinding_bits);
    const std::span<const CommittedWord> words = schedule_.opened_in_round(round);
    std::vector<std::vector<std::size_t>> drawn;
    for (const CommittedWord& word : words) {
      drawn.push_back(transcript_.positions("positions", word.positions, word.log_domain(), word.bits(),
                                            name(round) + ": " + std::to_string(word.positions) +
                                                " positions at rate " + std::to_string(word.rate) + "/" +
                                                std::to_string(rate_unit)));
    }
    std::vector<OpenedColumns> opened;
    for (std::size_t j = 0; j < words.size(); ++j) {
      opened.push_back(receive_columns(transcript_, words[j], roots_[j], std::move(drawn[j])));
    }
    columns_ = std::transform_reduce(opened.begin(), opened.end(), std::size_t{0}, std::plus<>(),
                                     [](const OpenedColumns& columns) { return columns.positions.size(); });
    return transcript_.public_value([&] {
      std::vector<PowerClaims> claims = power_claims(words, opened, bound_, round);
      if (masks_ && round == schedule_.vectors.size()) {
        mask_claims(claims.front(), words.front(), opened.front(), epsilon_);
      }
      return claims;
    });
  }

  /// The clear vector at the fully bound point.
  [[nodiscard]] E clear_value() const {
    std::vector<E> padded = clear_;
    padded.resize(std::size_t{1} << schedule_.log_clear);
    return evaluate(padded, bound_.vector_point(schedule_.log_vector - schedule_.log_clear));
  }

  /// All claims' and powers' weights at the fully bound point.
  [[nodiscard]] E weight() const {
    E total;
    for (std::size_t j = 0; j < oracles_.size(); ++j) {
      const CommittedWord& word = schedule_.oracles[j];
      WeightEvaluator evaluator(oracles_[j].layout, oracles_[j].parameters, bound_.vector_point(0),
                                bound_.row_point(word.log_rows), word.offset);
      for (std::size_t i = 0; i < forms_[j].size(); ++i) {
        total += coefficients_[j][i] * evaluator.evaluate(*forms_[j][i]);
      }
    }
    if (masks_) {
      total += row_masks_at(schedule_, oracles_, *masks_, bound_);
    }
    for (const PlaceWeights& masks : vector_masks_) {
      total += masks.weight_at(bound_.vector_point(masks.first_variable));
    }
    for (const PowerClaims& word : powers_) {
      total += word.weight_at(bound_.vector_point(word.first_variable));
    }
    return total;
  }

  void take(HidingBatch batch) {
    claim_ += batch.target;
    coefficients_ = std::move(batch.coefficients);
    cells_ = std::move(batch.cells);
    for (const LinearForm& form : cells_) {
      forms_.back().push_back(&form);
      coefficients_.back().push_back(E::one());
    }
  }

  /// Notes the claims' forms; how many they are.
  template <class Claim>
  std::size_t add_forms(std::span<const std::vector<Claim>> claims) {
    std::size_t count = 0;
    for (const std::vector<Claim>& list : claims) {
      count += list.size();
      std::vector<const LinearForm*>& forms = forms_.emplace_back();
      for (const Claim& claim : list) {
        forms.push_back(&claim);
      }
    }
    return count;
  }

  VerifierView<E>& transcript_;
  std::span<const CommittedOracle> oracles_;
  OpeningSchedule schedule_;
  BoundVariables bound_;
  std::vector<std::vector<const LinearForm*>> forms_;  // by oracle
  std::vector<std::vector<E>> coefficients_;
  std::vector<E> targets_;  // by oracle
  // of a hiding proof
  std::optional<std::size_t> masks_;
  std::vector<LinearForm> cells_;
  std::vector<PlaceWeights> vector_masks_;
  E epsilon_;
  E claim_;
  std::vector<Digest> roots_;  // of the words that are opened next
  std::vector<PowerClaims> powers_;
  std::size_t columns_ = 0;  // opened in this round
  std::vector<E> clear_;
};

/// Everything after step 1.
void verify_bound(Opening& opening) {
  opening.bind_row_variables();
  for (std::size_t round = 0; round < opening.vectors(); ++round) {
    opening.verify_vector(round);
  }
  opening.verify_clear_vector();
  opening.check_final_claim();
}

}  // namespace

void verify_opening(VerifierView<E>& transcript, std::span<const CommittedOracle> oracles,
                    std::span<const std::vector<Claim>> claims) {
  const Transcript::Scope scope = transcript.scope("opening");
  Opening opening(transcript, oracles);
  opening.batch_claims(claims);
  verify_bound(opening);
}

void verify_hiding_opening(VerifierView<E>& transcript, std::span<const CommittedOracle> oracles,
                           std::span<const std::vector<ClaimOf<Affine>>> claims, const HidingClaims& hiding) {
  const Transcript::Scope scope = transcript.scope("opening");
  Opening opening(transcript, oracles);
  opening.receive_masked_sum(hiding.masks);
  opening.batch_claims(claims, hiding);
  verify_bound(opening);
}

void verify_equality_opening(VerifierView<E>& transcript, std::span<const CommittedOracle> oracles,
                             std::span<const LinearForm> forms, std::size_t masks) {
  const Transcript::Scope scope = transcript.scope("opening");
  Opening opening(transcript, oracles);
  opening.receive_masked_sum(masks);
  opening.batch_differences(forms);
  verify_bound(opening);
}

}  // namespace tessera
