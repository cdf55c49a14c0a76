#include "opening/opening_steps.hpp"

#include <memory>

#include "opening/row_claims.hpp"
#include "opening/vector_weights.hpp"
#include "sumcheck/product_relations.hpp"
#include "words/codeword.hpp"

namespace tessera {

RowTables row_tables(std::span<const CommittedOracle> oracles, std::span<const OracleWitness> witnesses,
                     const ClaimBatch& batch, Communicator& comm) {
  std::vector<WeightTerm> terms;
  std::vector<E> coefficients;
  for (std::size_t j = 0; j < oracles.size(); ++j) {
    for (std::size_t i = 0; i < batch.forms[j].size(); ++i) {
      const LinearForm& form = *batch.forms[j][i];
      for (WeightTerm& term : weight_terms(oracles[j], form, j)) {
        terms.push_back(std::move(term));
        coefficients.push_back(batch.coefficients[j][i]);
      }
    }
  }
  std::vector<std::vector<E>> combined = combine_rows(terms, oracles, witnesses, comm);
  RowTables tables{std::vector<std::vector<DenseSummand>>(oracles.size()), std::vector<E>(oracles.size())};
  const RoundKernel kernel = round_kernel(ProductRelation{});
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::size_t j = terms[i].oracle;
    const std::size_t first = oracles[j].parameters.band(terms[i].band).first;
    const std::vector<E> of_band = eq_table(terms[i].row_point);
    std::vector<E>& values = combined[i];
    std::vector<E> weights(values.size());
    for (E& value : values) {
      value *= coefficients[i];
    }
    for (std::size_t row = 0; row < of_band.size(); ++row) {
      weights[first + row] = of_band[row];
      tables.sums[j] += values[first + row] * of_band[row];
    }
    tables.products[j].emplace_back(kernel,
                                    std::vector{DenseTable::of(std::move(values)), DenseTable::of(std::move(weights))});
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

std::vector<CodewordStore*> codewords_of(std::span<const OracleWitness> witnesses) {
  std::vector<CodewordStore*> stores;
  for (const OracleWitness& witness : witnesses) {
    stores.push_back(witness.codeword);
  }
  return stores;
}

std::vector<OpenedColumns> send_openings(ProverTranscript& transcript, std::span<const CommittedWord> words,
                                         std::span<CodewordStore* const> stores, unsigned grinding_bits,
                                         Communicator& comm) {
  transcript.grind("work", grinding_bits, comm);
  std::vector<std::vector<std::size_t>> positions;
  for (const CommittedWord& word : words) {
    positions.push_back(distinct_positions(transcript.positions("positions", word.positions, word.domain().points())));
  }
  return send_columns(transcript, words, stores, std::move(positions));
}

namespace {

/// A vector with the masks of the rounds over its rows.
class MaskedVector final : public Summand {
 public:
  explicit MaskedVector(VectorSummand& vector) : vector_(vector) {}
  void begin(MaskRounds masks) { masks_ = std::move(masks); }
  [[nodiscard]] std::size_t degree() const override { return vector_.degree(); }
  [[nodiscard]] bool homogeneous() const override { return vector_.homogeneous(); }
  RoundSums first(bool with_one) override { return masks_.add_to(vector_.first(with_one)); }
  RoundSums bind(E challenge, bool with_one) override {
    masks_.bind(challenge);
    return masks_.add_to(vector_.bind(challenge, with_one));
  }
  void end(E challenge) override {
    masks_.bind(challenge);
    vector_.end(challenge);
  }

 private:
  VectorSummand& vector_;
  MaskRounds masks_;
};

/// The rounds over v_0 and the vectors after it, with the state that one leaves for the next.
class VectorProver {
 public:
  VectorProver(const OpeningRun& run, VectorSummand& vector, BoundRows rows, std::span<CodewordStore* const> stores,
               ProverMasking& masking)
      : run_(run),
        vector_(vector),
        stores_(stores),
        masking_(masking),
        bound_(std::move(rows.variables)),
        summand_(vector),
        rounds_(run.transcript, summand_, rows.claim) {}

  /// Steps 3 to 9: commits the vector of this round, opens what is committed before, binds the vector's rows.
  void round(std::size_t number) {
    rounds_.settle();
    if (number > 0) {
      vector_.next(run_.schedule.table_size(number));
    }
    const CommittedWord& word = run_.schedule.vectors[number];
    const ResidueShares columns = vector_.columns(word.log_columns);
    const std::shared_ptr<const LeafExtras> extras = masking_.fill(number, vector_, columns);
    const DenseTable next_committed = vector_.values();
    std::unique_ptr<CodewordStore> next =
        commit_vector({next_committed.span(), word.log_rows, columns}, word.domain(), run_.comm, extras);
    run_.transcript.send("root", next->root());
    masking_.send_sum(number);
    RoundOpening opened = open(number);
    current_ = std::move(next);
    committed_ = next_committed;
    const E delta = run_.transcript.challenge("batch columns");
    join_openings(number, opened, delta, {columns, vector_.weights()});
    MaskRounds masks = masking_.of_rounds(number, delta);
    rounds_.add_to_claim(masks.sum());
    summand_.begin(std::move(masks));
    for (unsigned i = 0; i < OpeningSchedule::folding; ++i) {
      bound_.push(rounds_.round({}, {run_.schedule.row_work(number + 1), &run_.comm}));
    }
    masking_.rows_bound(number, delta, bound_);
  }

  /// Steps 8 to 10: the vector that is left, in clear.
  void end() {
    rounds_.settle();
    vector_.gather(run_.schedule.log_clear);
    const E before = rounds_.claim();
    rounds_.add_to_claim(masking_.mask_clear(vector_, before) - before);
    run_.transcript.send("clear", std::span<const E>(vector_.values().span()).first(run_.schedule.clear_size));
    (void)open(run_.schedule.vectors.size());
    for (unsigned i = 0; i < run_.schedule.log_clear; ++i) {
      bound_.push(rounds_.round());
    }
  }

 private:
  /// Steps 4 and 5 for the words that a round opens.
  RoundOpening open(std::size_t round) {
    const std::span<const CommittedWord> words = run_.schedule.opened_in_round(round);
    CodewordStore* const store = current_.get();
    const std::vector<OpenedColumns> opened = send_openings(
        run_.transcript, words, round == 0 ? stores_ : std::span(&store, 1), run_.schedule.grinding_bits, run_.comm);
    RoundOpening opening{power_claims(words, opened, bound_, round), {}};
    for (std::size_t j = 0; j < words.size(); ++j) {
      opening.exponents.push_back(exponents(words[j].domain(), opened[j].positions));
    }
    return opening;
  }

  /// Step 6: the opened columns' claims join.
  void join_openings(std::size_t round, RoundOpening& opened, E delta, const WeightShare& share) {
    rounds_.add_to_claim(assign_coefficients(opened.claims, delta, first_coefficient(delta, masking_.terms())));
    const std::span<const CommittedWord> words = run_.schedule.opened_in_round(round);
    for (std::size_t j = 0; j < words.size(); ++j) {
      add_weights(opened.claims[j], opened.exponents[j], words[j].log_domain(), share);
    }
  }

  const OpeningRun& run_;
  VectorSummand& vector_;
  std::span<CodewordStore* const> stores_;  // the oracles'
  ProverMasking& masking_;
  BoundVariables bound_;
  MaskedVector summand_;
  SumcheckProver rounds_;
  DenseTable committed_;  // the vector that `current_` is a codeword of
  std::unique_ptr<CodewordStore> current_;
};

}  // namespace

void prove_vectors(const OpeningRun& run, VectorSummand& vector, BoundRows rows, std::span<CodewordStore* const> stores,
                   ProverMasking& masking) {
  VectorProver prover(run, vector, std::move(rows), stores, masking);
  for (std::size_t round = 0; round < run.schedule.vectors.size(); ++round) {
    prover.round(round);
  }
  prover.end();
}

}  // namespace tessera
