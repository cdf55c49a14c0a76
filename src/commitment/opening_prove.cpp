#include <algorithm>
#include "commitment/bound_claims.hpp"
#include "commitment/codeword.hpp"
#include "commitment/first_vector.hpp"
#include "commitment/opening.hpp"
#include "commitment/row_claims.hpp"
#include "commitment/vector_weights.hpp"
#include "commitment/weights.hpp"
#include "sumcheck/dense.hpp"
#include "sumcheck/product_relations.hpp"

namespace tessera {
namespace {

using OracleClaims = std::span<const std::vector<Claim>>;

/// Sums of products of two tables, of which some join after the first rounds.
class JoiningProducts final : public Summand {
 public:
  [[nodiscard]] std::size_t degree() const override { return ProductRelation::degree(); }
  [[nodiscard]] bool homogeneous() const override { return ProductRelation::homogeneous; }
  void join(std::vector<DenseSummand> products) { std::ranges::move(products, std::back_inserter(products_)); }
  RoundSums first(bool with_one) override {
    joined_ = 0;
    return bind({}, with_one);
  }
  RoundSums bind(E challenge, bool with_one) override {
    RoundSums sums{};
    for (std::size_t i = 0; i < products_.size(); ++i) {
      sums += i < joined_ ? products_[i].bind(challenge, with_one) : products_[i].first(with_one);
    }
    joined_ = products_.size();
    return sums;
  }
  void end(E challenge) override {
    for (DenseSummand& product : products_) {
      product.end(challenge);
    }
  }

 private:
  std::vector<DenseSummand> products_;
  std::size_t joined_ = 0;  // before the round that is next
};

/// For each oracle, the tables of sum_terms sum_lo (gamma^i * F(lo)) * beta(row_point, lo).
std::vector<std::vector<DenseSummand>> row_tables(const OpeningSchedule& schedule,
                                                  std::span<const CommittedOracle> oracles,
                                                  std::span<const OracleWitness> witnesses, OracleClaims claims,
                                                  E gamma, Communicator& comm) {
  std::vector<WeightTerm> terms;
  std::vector<E> coefficients;
  std::vector<unsigned> log_rows;
  E power = E::one();
  for (std::size_t j = 0; j < oracles.size(); ++j) {
    log_rows.push_back(schedule.oracles[j].log_rows);
    for (const Claim& claim : claims[j]) {
      const Shape& shape = oracles[j].layout.tensors()[claim.tensor];
      for (WeightTerm& term : weight_terms(shape, claim, j, log_rows[j])) {
        terms.push_back(std::move(term));
        coefficients.push_back(power);
      }
      power *= gamma;
    }
  }
  std::vector<std::vector<E>> combined = combine_rows(terms, witnesses, log_rows, comm);
  std::vector<std::vector<DenseSummand>> products(oracles.size());
  const RoundKernel kernel = round_kernel(ProductRelation{});
  for (std::size_t i = 0; i < terms.size(); ++i) {
    for (E& value : combined[i]) {
      value *= coefficients[i];
    }
    products[terms[i].oracle].emplace_back(
        kernel, std::vector{DenseTable::of(std::move(combined[i])), DenseTable::of(eq_table(terms[i].row_point))});
  }
  return products;
}

/// Steps 4 and 5: work, then the columns and the multi-proof of each word at positions drawn here.
std::vector<OpenedColumns> send_openings(ProverTranscript& transcript, std::span<const CommittedWord> words,
                                         std::span<CodewordStore* const> stores, unsigned grinding_bits) {
  transcript.grind("work", grinding_bits);
  std::vector<OpenedColumns> opened;
  for (const CommittedWord& word : words) {
    opened.push_back({distinct_positions(transcript.positions("positions", word.positions, word.log_domain())), {}});
  }
  for (std::size_t j = 0; j < words.size(); ++j) {
    opened[j].values = stores[j]->columns(opened[j].positions);
    transcript.send("columns", std::span<const F>(opened[j].values));
    std::vector<Digest> siblings;
    const auto indices = multiproof_siblings(opened[j].positions, words[j].log_domain());
    for (unsigned level = 0; level < indices.size(); ++level) {
      const std::vector<Digest> nodes = stores[j]->nodes(level, indices[level]);
      siblings.insert(siblings.end(), nodes.begin(), nodes.end());
    }
    transcript.send("siblings", siblings);
  }
  return opened;
}

struct BoundRows {
  E claim;  // on v_0
  BoundVariables variables;
};

/// Step 2: the sum-check over the oracles' row variables, which the oracle with most rows begins.
BoundRows bind_row_variables(ProverTranscript& transcript, const OpeningSchedule& schedule,
                             std::span<const CommittedOracle> oracles, std::span<const OracleWitness> witnesses,
                             OracleClaims claims, E gamma, Communicator& comm) {
  const std::vector<E> targets = batch_values(oracles, claims, gamma);
  std::vector<std::vector<DenseSummand>> waiting = row_tables(schedule, oracles, witnesses, claims, gamma, comm);
  BoundVariables bound(schedule.row_variables);
  JoiningProducts products;
  SumcheckProver rounds(transcript, products, E::zero());
  for (unsigned round = 0; round < schedule.row_variables; ++round) {
    for (std::size_t j = 0; j < oracles.size(); ++j) {
      if (round == schedule.row_variables - schedule.oracles[j].log_rows) {
        rounds.add_to_claim(targets[j]);
        products.join(std::move(waiting[j]));
      }
    }
    bound.push(rounds.round());
  }
  return {rounds.claim(), bound};
}

}  // namespace

void prove_opening(ProverTranscript& transcript, std::span<const CommittedOracle> oracles,
                   std::span<const OracleWitness> witnesses, std::span<const std::vector<Claim>> claims,
                   Communicator& comm) {
  const Transcript::Scope scope = transcript.scope("opening");
  const OpeningSchedule schedule = opening_schedule(oracles);
  const E gamma = transcript.challenge("batch claims");
  auto [claim, bound] = bind_row_variables(transcript, schedule, oracles, witnesses, claims, gamma, comm);
  const ResidueShares shares = shares_of_first_vector(schedule, comm);
  VectorSummand vector(first_vector(schedule, oracles, witnesses, bound, shares, comm),
                       claim_weights(schedule, oracles, claims, gamma, bound, shares), shares, comm);
  std::vector<CodewordStore*> stores;  // of the words that are opened next
  for (const OracleWitness& witness : witnesses) {
    stores.push_back(witness.codeword);
  }

  SumcheckProver rounds(transcript, vector, claim);
  DenseTable committed;  // the vector that `current` is a codeword of
  std::unique_ptr<CodewordStore> current;
  for (std::size_t round = 0; round < schedule.vectors.size(); ++round) {
    rounds.settle();
    if (round > 0) {
      vector.gather();
    }
    const DenseTable next_committed = vector.values();
    const CommittedWord& next_word = schedule.vectors[round];
    const ResidueShares columns = vector.columns();
    std::unique_ptr<CodewordStore> next =
        columns.log_count() > 0
            ? commit_vector({next_committed.span(), next_word.log_rows, columns}, next_word.log_inverse_rate, comm)
            : commit_vector(next_committed.span(), next_word.log_rows, next_word.log_inverse_rate);
    transcript.send("root", next->root());
    const std::span<const CommittedWord> words = schedule.opened_in_round(round);
    const std::vector<OpenedColumns> opened = send_openings(transcript, words, stores, schedule.grinding_bits);
    current = std::move(next);
    committed = next_committed;
    stores = {current.get()};
    std::vector<PowerClaims> added = power_claims(words, opened, bound, round);
    rounds.add_to_claim(assign_coefficients(added, transcript.challenge("batch columns")));
    for (std::size_t j = 0; j < words.size(); ++j) {
      add_power_weights(added[j], opened[j].positions, words[j].log_domain(), columns, vector.weights());
    }
    for (unsigned i = 0; i < OpeningSchedule::folding; ++i) {
      bound.push(rounds.round());
    }
  }
  rounds.settle();
  vector.gather();
  transcript.send("clear", std::span<const E>(vector.values().span()));
  send_openings(transcript, schedule.opened_in_round(schedule.vectors.size()), stores, schedule.grinding_bits);
  for (unsigned i = 0; i < schedule.log_clear; ++i) {
    bound.push(rounds.round());
  }
}

}  // namespace tessera
