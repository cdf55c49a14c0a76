#pragma once

#include <functional>

#include "commitment/bound_claims.hpp"
#include "commitment/first_vector.hpp"
#include "commitment/opening.hpp"
#include "commitment/vector_masks.hpp"
#include "sumcheck/dense.hpp"
#include "sumcheck/product_relations.hpp"

/// \file
/// Steps of the opening that plain and hiding proofs share (opening.hpp).

namespace tessera {

/// Claims' weights with the coefficients that they have in the sum of all.
struct Batch {
  std::vector<std::vector<const LinearForm*>> forms;  // by oracle
  std::vector<std::vector<E>> coefficients;

  /// Coefficients 1, gamma, gamma^2, ..
  static Batch of(std::span<const std::vector<Claim>> claims, E gamma);
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

/// c_0 + sum_i c_i1*x_i + c_i2*x_i^2, which masks the rounds over as many variables; nothing of none.
class MaskRounds {
 public:
  MaskRounds() = default;
  /// c_0, c_11, c_12, c_21, ..
  explicit MaskRounds(std::vector<E> masks)
      : masks_(std::move(masks)), free_(static_cast<unsigned>(masks_.size() / 2)), fixed_(masks_.front()) {}
  /// 1/2: a constant counts half each time a variable is bound, since it stands in sums over both values of a variable.
  static E half() { return E(F::from_canonical(2).inverse()); }
  /// Over all values of the variables that are free.
  [[nodiscard]] E sum() const;
  void bind(E challenge);
  /// A round's sums with this in them.
  [[nodiscard]] RoundSums add_to(RoundSums sums) const;

 private:
  /// What the variable that is free next has: c_i1 and c_i2.
  [[nodiscard]] std::size_t next() const { return masks_.size() - 2 * std::size_t{free_}; }

  std::vector<E> masks_;
  unsigned free_ = 0;
  E fixed_;  // c_0 and the masks of bound variables
};

/// For each oracle, the tables of sum_terms sum_lo (coefficient * F(lo)) * beta(row_point, lo), and what they add up
/// to.
struct RowTables {
  std::vector<std::vector<DenseSummand>> products;
  std::vector<E> sums;
};
RowTables row_tables(std::span<const CommittedOracle> oracles, std::span<const OracleWitness> witnesses,
                     const Batch& batch, Communicator& comm);

/// The point at which the rows are bound, and the claim that is left.
struct BoundRows {
  E claim;  // on v_0
  BoundVariables variables;
};

/// Step 2: the sum-check over the oracles' row variables, which the oracle with most rows begins.
BoundRows bind_row_variables(ProverTranscript& transcript, const OpeningSchedule& schedule,
                             std::span<const CommittedOracle> oracles, std::span<const OracleWitness> witnesses,
                             std::span<const std::vector<Claim>> claims, E gamma, Communicator& comm);

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
  std::vector<std::vector<std::size_t>> positions;
};

/// What all steps of one opening work with.
struct OpeningRun {
  ProverTranscript& transcript;
  const OpeningSchedule& schedule;
  Communicator& comm;
};

/// Steps 3 to 10, from v_0 and its weights on. `stores`: the oracles'; `masks`: of a hiding proof.
void prove_vectors(const OpeningRun& run, VectorSummand& vector, BoundRows rows, std::span<CodewordStore* const> stores,
                   const VectorMasks* masks = nullptr);

}  // namespace tessera
