#include <algorithm>
#include <array>
#include "commitment/bound_claims.hpp"
#include "commitment/codeword.hpp"
#include "commitment/first_vector.hpp"
#include "commitment/hiding_batch.hpp"
#include "commitment/opening.hpp"
#include "commitment/row_claims.hpp"
#include "commitment/vector_weights.hpp"
#include "commitment/weights.hpp"
#include "sumcheck/dense.hpp"
#include "sumcheck/product_relations.hpp"

namespace tessera {
namespace {

using OracleClaims = std::span<const std::vector<Claim>>;

/// Claims' weights with the coefficients that they have in the sum of all.
struct Batch {
  std::vector<std::vector<const LinearForm*>> forms;  // by oracle
  std::vector<std::vector<E>> coefficients;

  /// Coefficients 1, gamma, gamma^2, ..
  static Batch of(OracleClaims claims, E gamma) {
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
};

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
                                                  std::span<const OracleWitness> witnesses, const Batch& batch,
                                                  Communicator& comm) {
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

/// Step 5: the columns and the multi-proofs of words at positions that are drawn.
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

/// Steps 4 and 5: work, then what is opened at positions drawn here.
std::vector<OpenedColumns> send_openings(ProverTranscript& transcript, std::span<const CommittedWord> words,
                                         std::span<CodewordStore* const> stores, unsigned grinding_bits) {
  transcript.grind("work", grinding_bits);
  std::vector<std::vector<std::size_t>> positions;
  for (const CommittedWord& word : words) {
    positions.push_back(distinct_positions(transcript.positions("positions", word.positions, word.log_domain())));
  }
  return send_columns(transcript, words, stores, std::move(positions));
}

/// The same of a hiding proof's oracles, at one list of positions.
std::vector<OpenedColumns> send_shared_openings(ProverTranscript& transcript, const OpeningSchedule& schedule,
                                                std::span<const OracleWitness> witnesses) {
  transcript.grind("work", schedule.grinding_bits);
  const CommittedWord& word = schedule.oracles.back();
  std::vector<std::size_t> positions =
      distinct_positions(transcript.positions("positions", word.positions, word.log_domain()));
  std::vector<std::size_t> of_parameters = parameter_positions(schedule, positions);
  const std::array<CodewordStore*, 2> stores{witnesses[0].codeword, witnesses[1].codeword};
  return send_columns(transcript, schedule.oracles, stores, {std::move(of_parameters), std::move(positions)});
}

/// What a round's openings claim, and where they are; by word.
struct RoundOpening {
  std::vector<PowerClaims> claims;
  std::vector<std::vector<std::size_t>> positions;
};

struct BoundRows {
  E claim;  // on v_0
  BoundVariables variables;
};

/// Step 2: the sum-check over the oracles' row variables, which the oracle with most rows begins.
BoundRows bind_row_variables(ProverTranscript& transcript, const OpeningSchedule& schedule,
                             std::span<const CommittedOracle> oracles, std::span<const OracleWitness> witnesses,
                             OracleClaims claims, E gamma, Communicator& comm) {
  const std::vector<E> targets = batch_values(oracles, claims, gamma);
  std::vector<std::vector<DenseSummand>> waiting =
      row_tables(schedule, oracles, witnesses, Batch::of(claims, gamma), comm);
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

/// A hiding proof's rounds over row variables: products, before an oracle's rows begin the constant that it is, and the
/// row masks.
class MaskedRows final : public Summand {
 public:
  /// `masks`: by row_mask_weights().
  MaskedRows(std::span<const E> masks, unsigned variables) : masks_(masks), free_(variables), fixed_(masks.front()) {}
  [[nodiscard]] std::size_t degree() const override { return products_.degree(); }
  [[nodiscard]] bool homogeneous() const override { return products_.homogeneous(); }
  /// An oracle whose rows begin later: its sum over all variables that are free now.
  void wait(E sum) { constant_ += sum; }
  /// It begins.
  void join(std::vector<DenseSummand> products, E sum) {
    constant_ -= sum;
    products_.join(std::move(products));
  }
  RoundSums first(bool with_one) override { return round(products_.first(with_one)); }
  RoundSums bind(E challenge, bool with_one) override {
    bind_masks(challenge);
    return round(products_.bind(challenge, with_one));
  }
  void end(E challenge) override {
    bind_masks(challenge);
    products_.end(challenge);
  }
  /// Of the constant, each time a variable is bound.
  static E half() { return E(F::from_canonical(2).inverse()); }
  /// Over all rows.
  [[nodiscard]] E mask_sum() const {
    E slopes;
    for (std::size_t i = 1; i < masks_.size(); ++i) {
      slopes += masks_[i];
    }
    return (fixed_ + slopes * half()) * two_to_the(free_);
  }

 private:
  /// What the variable that is free next has: c_i1 and c_i2.
  [[nodiscard]] std::size_t next() const { return masks_.size() - 2 * std::size_t{free_}; }
  void bind_masks(E challenge) {
    fixed_ += challenge * (masks_[next()] + challenge * masks_[next() + 1]);
    --free_;
    constant_ *= half();
  }
  RoundSums round(RoundSums sums) const {
    E later;
    for (std::size_t i = next() + 2; i < masks_.size(); ++i) {
      later += masks_[i];
    }
    const F count = two_to_the(free_ - 1);
    const E at_zero = (fixed_ + later * half()) * count + constant_ * half();
    sums[0] += at_zero;
    sums[1] += at_zero + (masks_[next()] + masks_[next() + 1]) * count;
    sums[2] += masks_[next() + 1] * count;
    return sums;
  }

  std::span<const E> masks_;
  unsigned free_;
  E fixed_;     // c_0 and the masks of bound variables
  E constant_;  // of oracles whose rows begin later
  JoiningProducts products_;
};

/// Step 2 of a hiding proof. `claim`: public, the masks' sum is in it; `parameters`: the parameters' share.
BoundRows bind_masked_rows(ProverTranscript& transcript, const OpeningSchedule& schedule,
                           std::vector<std::vector<DenseSummand>> waiting, MaskedRows& rows, E claim,
                           const std::array<E, 2>& shares) {
  BoundVariables bound(schedule.row_variables);
  std::array<E, 2> share = shares;
  for (const E& sum : share) {
    rows.wait(sum);
  }
  SumcheckProver rounds(transcript, rows, claim);
  for (unsigned round = 0; round < schedule.row_variables; ++round) {
    rounds.settle();
    for (std::size_t j = 0; j < share.size(); ++j) {
      if (round == schedule.row_variables - schedule.oracles[j].log_rows) {
        rows.join(std::move(waiting[j]), share[j]);
      }
      share[j] *= MaskedRows::half();
    }
    bound.push(rounds.round());
  }
  rounds.settle();
  return {rounds.claim(), bound};
}

/// Steps 3 to 10, from v_0 and its weights on. `open_first`: round 0's openings and what they claim.
template <class OpenFirst>
void prove_vectors(ProverTranscript& transcript, const OpeningSchedule& schedule, VectorSummand& vector, E claim,
                   BoundVariables bound, Communicator& comm, const OpenFirst& open_first) {
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
        send_openings(transcript, words, std::span(&store, 1), schedule.grinding_bits);
    return {power_claims(words, opened, bound, round), {opened.front().positions}};
  };
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
  transcript.send("clear", std::span<const E>(vector.values().span()));
  (void)open(schedule.vectors.size());
  for (unsigned i = 0; i < schedule.log_clear; ++i) {
    bound.push(rounds.round());
  }
}

struct MaskedVector {
  E epsilon, claim;
};

/// epsilon*v_0 + g in place of v_0, and the claim on it.
MaskedVector mask_vector(ProverTranscript& transcript, const OpeningSchedule& schedule, const KeyedStream& stream,
                         const ResidueShares& columns, E claim, VectorSummand& vector, Communicator& comm) {
  ZeroedVector<E> mask(vector.values().size);
  fill_vector_mask(schedule, stream, columns, mask);
  const std::span<E> weights = vector.weights();
  E sum;
#pragma omp parallel
  {
    E mine;
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < mask.size(); ++i) {
      mine += mask[i] * weights[i];
    }
#pragma omp critical(tessera_vector_mask)
    sum += mine;
  }
  if (columns.log_count() > 0) {
    comm.all_reduce_sum(std::span(&sum, 1));
  }
  transcript.send("vector mask", sum);
  const E epsilon = transcript.challenge("mask");
  const std::span<E> values = vector.values().span();
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < mask.size(); ++i) {
    values[i] = epsilon * values[i] + mask[i];
  }
  return {epsilon, epsilon * claim + sum};
}

}  // namespace

void prove_opening(ProverTranscript& transcript, std::span<const CommittedOracle> oracles,
                   std::span<const OracleWitness> witnesses, std::span<const std::vector<Claim>> claims,
                   Communicator& comm) {
  const Transcript::Scope scope = transcript.scope("opening");
  const OpeningSchedule schedule = opening_schedule(oracles);
  const E gamma = transcript.challenge("batch claims");
  const auto [claim, bound] = bind_row_variables(transcript, schedule, oracles, witnesses, claims, gamma, comm);
  const ResidueShares shares = shares_of_first_vector(schedule, comm);
  const Batch batch = Batch::of(claims, gamma);
  VectorSummand vector(first_vector(schedule, oracles, witnesses, bound, shares, comm),
                       claim_weights(schedule, oracles, batch.forms, batch.coefficients, bound, shares), shares, comm);
  std::vector<CodewordStore*> stores;
  for (const OracleWitness& witness : witnesses) {
    stores.push_back(witness.codeword);
  }
  prove_vectors(transcript, schedule, vector, claim, bound, comm, [&](const BoundVariables& rows) {
    const std::vector<OpenedColumns> opened =
        send_openings(transcript, schedule.oracles, stores, schedule.grinding_bits);
    RoundOpening opening{power_claims(schedule.oracles, opened, rows, 0), {}};
    for (const OpenedColumns& columns : opened) {
      opening.positions.push_back(columns.positions);
    }
    return opening;
  });
}

void prove_hiding_opening(ProverTranscript& transcript, std::span<const CommittedOracle> oracles,
                          std::span<const OracleWitness> witnesses, std::span<const std::vector<Claim>> claims,
                          std::span<const std::vector<ClaimOf<Affine<E>>>> hidden, const HidingClaims<E>& hiding,
                          const HidingMasks& masks, Communicator& comm) {
  const Transcript::Scope scope = transcript.scope("opening");
  const OpeningSchedule schedule = opening_schedule(oracles);
  MaskedRows rows(masks.rows, schedule.row_variables);
  const E mask_sum = rows.mask_sum();
  transcript.send("masked sum", mask_sum);
  const E eta = transcript.challenge("batch constraints");
  const E gamma = transcript.challenge("batch claims");
  const HidingBatch<E> batched = batch_hidden(schedule, oracles, hidden, hiding, eta, gamma);
  Batch batch{{}, batched.coefficients};
  const std::vector<E> scales = row_scales(schedule);
  for (const auto& list : claims) {
    auto& forms = batch.forms.emplace_back();
    for (const Claim& claim : list) {
      forms.push_back(&claim);
    }
  }
  for (const LinearForm& form : batched.cells) {
    batch.forms.back().push_back(&form);
    batch.coefficients.back().push_back(E::one());
  }
  // what the parameters' claims add up to; the rest of the target is the witness's
  std::array<E, 2> shares_of_target{};
  for (std::size_t i = 0; i < claims[0].size(); ++i) {
    shares_of_target[0] += batched.coefficients[0][i] * claims[0][i].value;
  }
  shares_of_target[0] = shares_of_target[0] * scales[0].inverse();
  shares_of_target[1] = batched.target - shares_of_target[0];
  const auto [row_claim, bound] =
      bind_masked_rows(transcript, schedule, row_tables(schedule, oracles, witnesses, batch, comm), rows,
                       batched.target + mask_sum, shares_of_target);
  const ResidueShares shares = shares_of_first_vector(schedule, comm);
  VectorSummand vector(first_vector(schedule, oracles, witnesses, bound, shares, comm),
                       claim_weights(schedule, oracles, batch.forms, batch.coefficients, bound, shares), shares, comm);
  add_row_mask_weights(schedule, oracles, hiding.masks, bound, shares, vector.weights());
  const MaskedVector masked = mask_vector(transcript, schedule, *masks.vector, shares, row_claim, vector, comm);
  prove_vectors(transcript, schedule, vector, masked.claim, bound, comm, [&](const BoundVariables& variables) {
    const std::vector<OpenedColumns> opened = send_shared_openings(transcript, schedule, witnesses);
    RoundOpening opening{masked_power_claims(schedule, opened, variables, masked.epsilon), {}};
    opening.positions.push_back({});
    for (const std::size_t position : opened[1].positions) {
      opening.positions[0].push_back(position & ((std::size_t{1} << schedule.oracles[0].log_domain()) - 1));
    }
    opening.positions.push_back(opened[1].positions);
    return opening;
  });
}

}  // namespace tessera
