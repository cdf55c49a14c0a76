#include <algorithm>
#include <numeric>
#include "opening/batch.hpp"
#include "opening/masking.hpp"
#include "opening/opened_columns.hpp"
#include "opening/opening.hpp"
#include "sumcheck/sumcheck.hpp"

namespace tessera {
namespace {

/// The verifier of one opening: a running claim on what is bound so far. Steps are numbered as in opening.hpp.
class Opening {
 public:
  /// `batch`: step 1. Keeps references to the others.
  Opening(VerifierView<E>& transcript, std::span<const CommittedOracle> oracles, const OpeningSchedule& schedule,
          ClaimBatch batch, Masking& masking)
      : transcript_(transcript),
        oracles_(oracles),
        schedule_(schedule),
        batch_(std::move(batch)),
        masking_(masking),
        bound_(schedule.row_variables),
        claim_(batch_.target) {
    for (const CommittedOracle& oracle : oracles) {
      roots_.push_back(oracle.root);
    }
  }

  /// Step 2: the sum-check over the oracles' row variables, which the oracle with most rows begins.
  void bind_row_variables() {
    for (unsigned round = 0; round < schedule_.row_variables; ++round) {
      for (std::size_t j = 0; j < batch_.targets.size(); ++j) {
        if (round == schedule_.row_variables - schedule_.oracles[j].log_rows) {
          claim_ += batch_.targets[j];
        }
      }
      bind_row(0);
    }
    masking_.add_row_forms(bound_, forms_);
  }

  /// Steps 3 to 7: the next vector is committed, the words before it are opened against it, its rows are bound.
  void verify_vector(std::size_t round) {
    const Digest root = transcript_.receive_digest("root");
    const E masked = masking_.receive_sum(transcript_);
    std::vector<PowerClaims> added = receive_openings(round);
    const E delta = transcript_.challenge("batch columns", static_cast<double>(columns_ + masking_.terms()),
                                          name(round) + ": batching of bound columns");
    claim_ += delta * masked + assign_coefficients(added, delta, first_coefficient(delta, masking_.terms()));
    std::ranges::move(added, std::back_inserter(forms_));
    for (unsigned i = 0; i < OpeningSchedule::folding; ++i) {
      bind_row(round + 1);
    }
    masking_.add_round_forms(round, delta, bound_, forms_);
    roots_ = {root};
  }

  /// Steps 8 and 9, in place of 3 to 7: the last vector is in clear.
  void verify_clear_vector() {
    const std::size_t round = schedule_.vectors.size();
    claim_ = masking_.mask_claim(transcript_, claim_);
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
      drawn.push_back(transcript_.positions("positions", word.positions, word.domain().points(), word.bits(),
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
      if (round == schedule_.vectors.size()) {
        masking_.mask_columns(claims.front(), opened.front());
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

  /// The weights of all claims and of all that joined them, at the fully bound point.
  [[nodiscard]] E weight() const {
    E total = weight_at(batch_, schedule_, oracles_, bound_);
    for (const VectorForm& form : forms_) {
      total += weight_at(form, bound_);
    }
    return total;
  }

  VerifierView<E>& transcript_;
  std::span<const CommittedOracle> oracles_;
  const OpeningSchedule& schedule_;
  ClaimBatch batch_;
  Masking& masking_;
  BoundVariables bound_;
  E claim_;
  std::vector<VectorForm> forms_;  // that joined the batch
  std::vector<Digest> roots_;      // of the words that are opened next
  std::size_t columns_ = 0;        // opened in this round
  std::vector<E> clear_;
};

/// Everything after step 1.
void verify_batch(Opening opening) {
  opening.bind_row_variables();
  for (std::size_t round = 0; round < opening.vectors(); ++round) {
    opening.verify_vector(round);
  }
  opening.verify_clear_vector();
  opening.check_final_claim();
}

template <class Claims>
std::size_t count_of(std::span<const Claims> lists) {
  return std::transform_reduce(lists.begin(), lists.end(), std::size_t{0}, std::plus<>(),
                               [](const Claims& list) { return list.size(); });
}

}  // namespace

void verify_opening(VerifierView<E>& transcript, std::span<const CommittedOracle> oracles,
                    std::span<const std::vector<Claim>> claims) {
  const Transcript::Scope scope = transcript.scope("opening");
  const OpeningSchedule schedule = opening_schedule(oracles);
  const std::size_t count = count_of(claims);
  const E gamma = transcript.challenge("batch claims", static_cast<double>(std::max<std::size_t>(count, 1) - 1),
                                       "batching of " + std::to_string(count) + " claims");
  Masking none;
  verify_batch({transcript, oracles, schedule, batch_claims(oracles, claims, gamma), none});
}

void verify_hiding_opening(VerifierView<E>& transcript, std::span<const CommittedOracle> oracles,
                           std::span<const std::vector<ClaimOf<Affine>>> claims, const HidingClaims& hiding) {
  const Transcript::Scope scope = transcript.scope("opening");
  const OpeningSchedule schedule = opening_schedule(oracles);
  HidingMasking masking(schedule, oracles, hiding.masks);
  const E masked = masking.receive_sum(transcript);
  const E eta = transcript.challenge("batch constraints", static_cast<double>(hiding.constraints.size() - 1),
                                     "batching of " + std::to_string(hiding.constraints.size()) + " constraints");
  const std::size_t count = count_of(claims);
  const E gamma = transcript.challenge("batch claims", static_cast<double>(count + 1),
                                       "batching of " + std::to_string(count) + " claims, constraints and masks");
  ClaimBatch batch = batch_hidden(schedule, oracles, claims, hiding, eta, gamma);
  batch.target += masked;
  verify_batch({transcript, oracles, schedule, std::move(batch), masking});
}

void verify_equality_opening(VerifierView<E>& transcript, std::span<const CommittedOracle> oracles,
                             std::span<const LinearForm> forms, std::size_t mask_tensor) {
  const Transcript::Scope scope = transcript.scope("opening");
  const OpeningSchedule schedule = opening_schedule(oracles);
  HidingMasking masking(schedule, oracles, mask_tensor);
  const E masked = masking.receive_sum(transcript);
  const E gamma = transcript.challenge("batch claims", static_cast<double>(forms.size()),
                                       "batching of " + std::to_string(forms.size()) + " tensors and masks");
  ClaimBatch batch = batch_differences(schedule, forms, gamma);
  batch.target += masked;
  verify_batch({transcript, oracles, schedule, std::move(batch), masking});
}

}  // namespace tessera
