#include "commitment/opening_steps.hpp"

#include <memory>

#include "commitment/codeword.hpp"
#include "commitment/row_claims.hpp"
#include "commitment/vector_weights.hpp"
#include "sumcheck/product_relations.hpp"

namespace tessera {

Batch Batch::of(std::span<const std::vector<Claim>> claims, E gamma) {
  Batch batch;
  E power = E::one();
  for (const std::vector<Claim>& list : claims) {
    auto& forms = batch.forms.emplace_back();
    auto& coefficients = batch.coefficients.emplace_back();
    for (const Claim& claim : list) {
      forms.push_back(&claim);
      coefficients.push_back(power);
      power *= gamma;
    }
  }
  return batch;
}

RowTables row_tables(const OpeningSchedule& schedule, std::span<const CommittedOracle> oracles,
                     std::span<const OracleWitness> witnesses, const Batch& batch, Communicator& comm) {
  std::vector<WeightTerm> terms;
  std::vector<E> coefficients;
  std::vector<unsigned> log_rows;
  for (std::size_t j = 0; j < oracles.size(); ++j) {
    log_rows.push_back(schedule.oracles[j].log_rows);
    for (std::size_t i = 0; i < batch.forms[j].size(); ++i) {
      const LinearForm& form = *batch.forms[j][i];
      for (WeightTerm& term : weight_terms(oracles[j].layout.tensors()[form.tensor], form, j, log_rows[j])) {
        terms.push_back(std::move(term));
        coefficients.push_back(batch.coefficients[j][i]);
      }
    }
  }
  std::vector<std::vector<E>> combined = combine_rows(terms, witnesses, log_rows, comm);
  RowTables tables{std::vector<std::vector<DenseSummand>>(oracles.size()), std::vector<E>(oracles.size())};
  const RoundKernel kernel = round_kernel(ProductRelation{});
  for (std::size_t i = 0; i < terms.size(); ++i) {
    std::vector<E> weights = eq_table(terms[i].row_point);
    for (std::size_t row = 0; row < weights.size(); ++row) {
      combined[i][row] *= coefficients[i];
      tables.sums[terms[i].oracle] += combined[i][row] * weights[row];
    }
    tables.products[terms[i].oracle].emplace_back(
        kernel, std::vector{DenseTable::of(std::move(combined[i])), DenseTable::of(std::move(weights))});
  }
  return tables;
}

std::vector<OpenedColumns> send_columns(ProverTranscript& transcript, std::span<const CommittedWord> words,
                                        std::span<CodewordStore* const> stores,
                                        std::vector<std::vector<std::size_t>> positions) {
  std::vector<OpenedColumns> opened;
  for (std::size_t j = 0; j < words.size(); ++j) {
    opened.push_back({std::move(positions[j]), {}});
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

std::vector<OpenedColumns> send_openings(ProverTranscript& transcript, std::span<const CommittedWord> words,
                                         std::span<CodewordStore* const> stores, unsigned grinding_bits,
                                         Communicator& comm) {
  transcript.grind("work", grinding_bits, comm);
  std::vector<std::vector<std::size_t>> positions;
  for (const CommittedWord& word : words) {
    positions.push_back(distinct_positions(transcript.positions("positions", word.positions, word.log_domain())));
  }
  return send_columns(transcript, words, stores, std::move(positions));
}

void prove_vectors(ProverTranscript& transcript, const OpeningSchedule& schedule, VectorSummand& vector, E claim,
                   BoundVariables bound, Communicator& comm,
                   const std::function<RoundOpening(const BoundVariables&)>& open_first) {
  SumcheckProver rounds(transcript, vector, claim);
  DenseTable committed;  // the vector that `current` is a codeword of
  std::unique_ptr<CodewordStore> current;
  const auto open = [&](std::size_t round) -> RoundOpening {
    if (round == 0) {
      return open_first(bound);
    }
    const std::span<const CommittedWord> words = schedule.opened_in_round(round);
    CodewordStore* const store = current.get();
    const std::vector<OpenedColumns> opened =
        send_openings(transcript, words, std::span(&store, 1), schedule.grinding_bits, comm);
    return {power_claims(words, opened, bound, round), {opened.front().positions}};
  };
  for (std::size_t round = 0; round < schedule.vectors.size(); ++round) {
    rounds.settle();
    if (round > 0) {
      vector.next(schedule.vectors[round - 1].columns);
    }
    const DenseTable next_committed = vector.values();
    const CommittedWord& next_word = schedule.vectors[round];
    const ResidueShares columns = vector.columns();
    std::unique_ptr<CodewordStore> next =
        columns.log_count() > 0
            ? commit_vector({next_committed.span(), next_word.log_rows, columns}, next_word.log_inverse_rate, comm)
            : commit_vector(next_committed.span(), next_word.log_rows, next_word.log_inverse_rate, comm);
    transcript.send("root", next->root());
    RoundOpening added = open(round);
    current = std::move(next);
    committed = next_committed;
    rounds.add_to_claim(assign_coefficients(added.claims, transcript.challenge("batch columns")));
    const std::span<const CommittedWord> words = schedule.opened_in_round(round);
    for (std::size_t j = 0; j < words.size(); ++j) {
      add_power_weights(added.claims[j], added.positions[j], words[j].log_domain(), columns, vector.weights());
    }
    for (unsigned i = 0; i < OpeningSchedule::folding; ++i) {
      bound.push(rounds.round());
    }
  }
  rounds.settle();
  vector.gather();
  transcript.send("clear", std::span<const E>(vector.values().span()).first(schedule.clear_size));
  (void)open(schedule.vectors.size());
  for (unsigned i = 0; i < schedule.log_clear; ++i) {
    bound.push(rounds.round());
  }
}

}  // namespace tessera
