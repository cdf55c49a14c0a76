#include "commitment/opening_steps.hpp"

#include <memory>

#include "commitment/codeword.hpp"
#include "commitment/hiding_batch.hpp"
#include "commitment/hiding_leaves.hpp"
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

RowTables row_tables(std::span<const CommittedOracle> oracles, std::span<const OracleWitness> witnesses,
                     const Batch& batch, Communicator& comm) {
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

E MaskRounds::sum() const {
  E slopes;
  for (std::size_t i = next(); i < masks_.size(); ++i) {
    slopes += masks_[i];
  }
  return (fixed_ + slopes * half()) * two_to_the(free_);
}

void MaskRounds::bind(E challenge) {
  if (free_ > 0) {
    fixed_ += challenge * (masks_[next()] + challenge * masks_[next() + 1]);
    --free_;
  }
}

RoundSums MaskRounds::add_to(RoundSums sums) const {
  if (free_ == 0) {
    return sums;
  }
  E later;
  for (std::size_t i = next() + 2; i < masks_.size(); ++i) {
    later += masks_[i];
  }
  const F count = two_to_the(free_ - 1);
  const E at_zero = (fixed_ + later * half()) * count;
  sums[0] += at_zero;
  sums[1] += at_zero + (masks_[next()] + masks_[next() + 1]) * count;
  sums[2] += masks_[next() + 1] * count;
  return sums;
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

std::vector<E> scaled(std::vector<E> values, E by) {
  for (E& value : values) {
    value *= by;
  }
  return values;
}

/// epsilon*v + g in place of the vector in clear; what the claim on it becomes.
E mask_clear_vector(ProverTranscript& transcript, std::span<const E> mask, VectorSummand& vector, E claim) {
  E sum;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    sum += vector.weights()[i] * mask[i];
  }
  transcript.send("vector mask", sum);
  const E epsilon = transcript.challenge("mask");
  for (std::size_t i = 0; i < mask.size(); ++i) {
    vector.values().span()[i] = epsilon * vector.values().span()[i] + mask[i];
  }
  return epsilon * claim + sum;
}

}  // namespace

void prove_vectors(ProverTranscript& transcript, const OpeningSchedule& schedule, VectorSummand& vector, E claim,
                   BoundVariables bound, std::span<CodewordStore* const> stores, Communicator& comm,
                   const VectorMasks* masks) {
  MaskedVector summand(vector);
  SumcheckProver rounds(transcript, summand, claim);
  DenseTable committed;  // the vector that `current` is a codeword of
  std::unique_ptr<CodewordStore> current;
  const auto open = [&](std::size_t round) -> RoundOpening {
    const std::span<const CommittedWord> words = schedule.opened_in_round(round);
    CodewordStore* const store = current.get();
    const std::vector<OpenedColumns> opened =
        send_openings(transcript, words, round == 0 ? stores : std::span(&store, 1), schedule.grinding_bits, comm);
    RoundOpening opening{power_claims(words, opened, bound, round), {}};
    for (const OpenedColumns& columns : opened) {
      opening.positions.push_back(columns.positions);
    }
    return opening;
  };
  PlaceWeights of_masks;  // of the round before, whose mask columns are values now
  for (std::size_t round = 0; round < schedule.vectors.size(); ++round) {
    rounds.settle();
    if (round > 0) {
      vector.next(schedule.table_size(round));
    }
    const CommittedWord& next_word = schedule.vectors[round];
    const ResidueShares columns = vector.columns(next_word.log_columns);
    std::shared_ptr<const LeafExtras> extras;
    if (masks != nullptr) {
      masks->fill(round, columns, vector.values().span());
      add_place_weights(of_masks, columns, vector.weights());
      if (round + 1 == schedule.vectors.size()) {
        extras = clear_mask_leaves(masks->of_clear(), schedule.vectors[round]);
      }
    }
    const DenseTable next_committed = vector.values();
    std::unique_ptr<CodewordStore> next =
        commit_vector({next_committed.span(), next_word.log_rows, columns}, next_word.log_inverse_rate, comm, extras);
    transcript.send("root", next->root());
    const MaskRounds of_rounds = masks != nullptr ? MaskRounds(masks->of_rounds(round)) : MaskRounds();
    if (masks != nullptr) {
      transcript.send("masked sum", of_rounds.sum());
    }
    RoundOpening added = open(round);
    current = std::move(next);
    committed = next_committed;
    const E delta = transcript.challenge("batch columns");
    rounds.add_to_claim(assign_coefficients(added.claims, delta, masks != nullptr ? delta * delta : delta));
    const std::span<const CommittedWord> words = schedule.opened_in_round(round);
    for (std::size_t j = 0; j < words.size(); ++j) {
      add_power_weights(added.claims[j], added.positions[j], words[j].log_domain(), columns, vector.weights());
    }
    if (masks != nullptr) {
      rounds.add_to_claim(delta * of_rounds.sum());
      summand.begin(MaskRounds(scaled(masks->of_rounds(round), delta)));
    }
    for (unsigned i = 0; i < OpeningSchedule::folding; ++i) {
      bound.push(rounds.round({}, {schedule.row_work(round + 1), &comm}));
    }
    if (masks != nullptr) {
      of_masks = {(round + 1) * OpeningSchedule::folding, next_word.fresh,
                  scaled(mask_weights(bound.latest(OpeningSchedule::folding)), delta)};
    }
  }
  rounds.settle();
  vector.gather();
  if (masks != nullptr) {
    add_place_weights(of_masks, vector.columns(schedule.log_clear), vector.weights());
    const E before = rounds.claim();
    rounds.add_to_claim(mask_clear_vector(transcript, masks->of_clear(), vector, before) - before);
  }
  transcript.send("clear", std::span<const E>(vector.values().span()).first(schedule.clear_size));
  (void)open(schedule.vectors.size());
  for (unsigned i = 0; i < schedule.log_clear; ++i) {
    bound.push(rounds.round());
  }
}

}  // namespace tessera
