#pragma once

#include <functional>

#include "opening/batch.hpp"
#include "opening/first_vector.hpp"
#include "opening/masking_prove.hpp"
#include "opening/opening.hpp"
#include "sumcheck/dense.hpp"
#include "sumcheck/product_relations.hpp"

/// \file
/// Steps of the opening that plain and hiding proofs share (opening.hpp).

namespace tessera {

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

/// For each oracle, the tables of sum_terms sum_lo (coefficient * F(lo)) * beta(row_point, lo), and what they add up
/// to.
struct RowTables {
  std::vector<std::vector<DenseSummand>> products;
  std::vector<E> sums;
};
RowTables row_tables(std::span<const CommittedOracle> oracles, std::span<const OracleWitness> witnesses,
                     const ClaimBatch& batch, Communicator& comm);

/// The point at which the rows are bound, and the claim that is left.
struct BoundRows {
  E claim;  // on v_0
  BoundVariables variables;
};

/// Step 2: the sum-check over the oracles' row variables, which the oracle with most rows begins.
BoundRows bind_row_variables(const OpeningRun& run, std::span<const CommittedOracle> oracles,
                             std::span<const OracleWitness> witnesses, const ClaimBatch& batch);

/// Step 5: the columns and the multi-proofs of words at positions that are drawn.
std::vector<OpenedColumns> send_columns(ProverTranscript& transcript, std::span<const CommittedWord> words,
                                        std::span<CodewordStore* const> stores,
                                        std::vector<std::vector<std::size_t>> positions);

/// Steps 4 and 5: work, then what is opened at positions drawn here.
std::vector<OpenedColumns> send_openings(ProverTranscript& transcript, std::span<const CommittedWord> words,
                                         std::span<CodewordStore* const> stores, unsigned grinding_bits,
                                         Communicator& comm);

/// The oracles' codewords.
std::vector<CodewordStore*> codewords_of(std::span<const OracleWitness> witnesses);

/// What a round's openings claim, and where they are; by word.
struct RoundOpening {
  std::vector<PowerClaims> claims;
  std::vector<std::vector<std::size_t>> exponents;
};

/// Steps 3 to 10, from v_0 and its weights on. `stores`: the oracles'.
void prove_vectors(const OpeningRun& run, VectorSummand& vector, BoundRows rows, std::span<CodewordStore* const> stores,
                   ProverMasking& masking);

}  // namespace tessera
