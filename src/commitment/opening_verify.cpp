#include "commitment/bound_claims.hpp"
#include "commitment/opened_columns.hpp"
#include "commitment/opening.hpp"
#include "commitment/weights.hpp"
#include "sumcheck/sumcheck.hpp"

namespace tessera {
namespace {

/// sum_x claims' weights at the fully bound point: gamma^i-batched over all claims of all oracles.
E evaluate_claims(std::span<const CommittedOracle> oracles, std::span<const std::vector<Claim>> claims, E gamma,
                  const OpeningSchedule& schedule, const BoundVariables& bound) {
  E total;
  E power = E::one();
  for (std::size_t j = 0; j < oracles.size(); ++j) {
    WeightEvaluator evaluator(oracles[j].layout, bound.oracle_point(schedule, j));
    E sum;
    for (const Claim& claim : claims[j]) {
      sum += power * evaluator.evaluate(claim);
      power *= gamma;
    }
    total += sum * bound.selector(schedule, schedule.oracles[j]);
  }
  return total;
}

void bind_round(VerifierTranscript& transcript, E& claim, BoundVariables& bound) {
  const SumcheckResult result = verify_sumcheck(transcript, claim, 1, 2);
  claim = result.value;
  bound.push(result.point[0]);
}

/// The words opened in this round, at positions that are all drawn before any column is received.
std::vector<OpenedColumns> receive_openings(VerifierTranscript& transcript, std::span<const CommittedWord> words,
                                            std::span<const Digest> roots) {
  std::vector<std::vector<std::size_t>> drawn;
  for (const CommittedWord& word : words) {
    drawn.push_back(transcript.positions("positions", word.positions, word.log_domain()));
  }
  std::vector<OpenedColumns> opened;
  for (std::size_t j = 0; j < words.size(); ++j) {
    opened.push_back(receive_columns(transcript, words[j], roots[j], std::move(drawn[j])));
  }
  return opened;
}

}  // namespace

void verify_opening(VerifierTranscript& transcript, std::span<const CommittedOracle> oracles,
                    std::span<const std::vector<Claim>> claims) {
  const Transcript::Scope scope = transcript.scope("opening");
  const OpeningSchedule schedule = opening_schedule(oracles);
  const E gamma = transcript.challenge("batch claims");  // step 1
  const std::vector<E> targets = batch_values(oracles, claims, gamma);

  E claim;
  BoundVariables bound(schedule.row_variables);
  for (unsigned round = 0; round < schedule.row_variables; ++round) {  // step 2
    for (std::size_t j = 0; j < oracles.size(); ++j) {
      claim += round == schedule.row_variables - schedule.oracles[j].log_rows ? targets[j] : E::zero();
    }
    bind_round(transcript, claim, bound);
  }

  std::vector<Digest> roots;
  for (const CommittedOracle& oracle : oracles) {
    roots.push_back(oracle.root);
  }
  std::vector<PowerClaims> powers;
  std::vector<E> clear;
  for (std::size_t round = 0; round <= schedule.vectors.size(); ++round) {
    const bool last = round == schedule.vectors.size();
    std::vector<Digest> next;
    if (last) {
      clear = transcript.receive("clear", std::size_t{1} << schedule.log_clear);  // step 8
    } else {
      next.push_back(transcript.receive_digest("root"));  // step 3
    }
    transcript.check_work("work", schedule.grinding_bits);  // step 4
    const std::span<const CommittedWord> words = schedule.opened_in_round(round);
    const std::vector<OpenedColumns> opened = receive_openings(transcript, words, roots);  // step 5
    std::vector<PowerClaims> added = power_claims(words, opened, bound, round);
    if (last) {
      for (const PowerClaims& powers_of_word : added) {  // step 9
        transcript.check(powers_of_word.hold_for(clear), "the clear vector differs from an opened column");
      }
      break;
    }
    claim += assign_coefficients(added, transcript.challenge("batch columns"));  // step 6
    powers.insert(powers.end(), added.begin(), added.end());
    for (unsigned i = 0; i < OpeningSchedule::folding; ++i) {  // step 7
      bind_round(transcript, claim, bound);
    }
    roots = std::move(next);
  }

  for (unsigned i = 0; i < schedule.log_clear; ++i) {  // step 10
    bind_round(transcript, claim, bound);
  }
  E weight = evaluate_claims(oracles, claims, gamma, schedule, bound);
  for (const PowerClaims& powers_of_word : powers) {
    weight += powers_of_word.weight_at(bound.vector_point(powers_of_word.first_variable));
  }
  const E value = evaluate(clear, bound.vector_point(schedule.log_vector - schedule.log_clear));
  transcript.check(claim == value * weight, "the opening's final claim does not hold");
}

}  // namespace tessera
