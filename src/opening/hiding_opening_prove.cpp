#include "opening/batch.hpp"
#include "opening/opening.hpp"
#include "opening/opening_steps.hpp"
#include "opening/vector_weights.hpp"

namespace tessera {
namespace {

/// A hiding proof's rounds over row variables: products, before an oracle's rows begin the constant that it is, and the
/// row masks.
class MaskedRows final : public Summand {
 public:
  /// `masks`: as mask_weights() has them.
  explicit MaskedRows(const std::vector<E>& masks) : masks_(masks) {}
  [[nodiscard]] std::size_t degree() const override { return products_.degree(); }
  [[nodiscard]] bool homogeneous() const override { return products_.homogeneous(); }
  /// An oracle whose rows begin later: its sum over all variables that are free now.
  void wait(E sum) { constant_ += sum; }
  /// The rows of a waiting oracle begin: `products` take the place of `sum`, which was its constant.
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
  /// Over all rows.
  [[nodiscard]] E mask_sum() const { return masks_.sum(); }

 private:
  void bind_masks(E challenge) {
    masks_.bind(challenge);
    constant_ *= MaskRounds::half();
  }
  RoundSums round(RoundSums sums) const {
    const E waiting = constant_ * MaskRounds::half();
    sums[0] += waiting;
    sums[1] += waiting;
    return masks_.add_to(sums);
  }

  MaskRounds masks_;
  E constant_;  // of oracles whose rows begin later
  JoiningProducts products_;
};

/// Step 2 of a hiding proof. `claim`: public, the masks' sum is in it; `shares`: by oracle, of all variables' sum.
BoundRows bind_masked_rows(const OpeningRun& run, std::vector<std::vector<DenseSummand>> waiting, MaskedRows& rows,
                           E claim, std::vector<E> shares) {
  const OpeningSchedule& schedule = run.schedule;
  BoundVariables bound(schedule.row_variables);
  for (const E& sum : shares) {
    rows.wait(sum);
  }
  SumcheckProver rounds(run.transcript, rows, claim);
  for (unsigned round = 0; round < schedule.row_variables; ++round) {
    rounds.settle();
    for (std::size_t j = 0; j < shares.size(); ++j) {
      if (round == schedule.row_variables - schedule.oracles[j].log_rows) {
        rows.join(std::move(waiting[j]), shares[j]);
      }
      shares[j] *= MaskRounds::half();
    }
    bound.push(rounds.round({}, {schedule.row_work(0), &run.comm}));
  }
  rounds.settle();
  return {rounds.claim(), bound};
}

/// A hiding proof's oracles and what is claimed of them.
struct MaskedClaims {
  std::span<const CommittedOracle> oracles;
  std::span<const OracleWitness> witnesses;
  ClaimBatch batch;
  std::size_t mask_tensor;  // of the last oracle

  /// What the claims of each oracle add up to over all variables: the last one's are the rest of the target.
  [[nodiscard]] std::vector<E> shares(const OpeningSchedule& schedule, std::span<const E> sums) const {
    const std::vector<E> scales = row_scales(schedule);
    std::vector<E> shares;
    E rest = batch.target;
    for (std::size_t j = 0; j + 1 < oracles.size(); ++j) {
      shares.push_back(sums[j] * scales[j].inverse());
      rest -= shares.back();
    }
    shares.push_back(rest);
    return shares;
  }
};

/// Everything once weights and target are known: all of step 2 and after.
void prove_masked(const OpeningRun& run, const MaskedClaims& claims, MaskedRows& rows, const HidingMasks& masks) {
  const ResidueShares columns = shares_of_first_vector(run.schedule, run.comm);
  // as in prove_opening(): more pages than those of v_0 would wait unused
  trim_storage(share_size(run.schedule, columns) * sizeof(E));
  RowTables tables = row_tables(claims.oracles, claims.witnesses, claims.batch, run.comm);
  BoundRows bound = bind_masked_rows(run, std::move(tables.products), rows, claims.batch.target + rows.mask_sum(),
                                     claims.shares(run.schedule, tables.sums));
  ZeroedVector<E> values =
      first_vector(run.schedule, claims.oracles, claims.witnesses, bound.variables, columns, run.comm);
  VectorSummand vector(std::move(values),
                       claim_weights(run.schedule, claims.oracles, claims.batch, bound.variables, columns), columns,
                       run.comm);
  if (masks.bound) {
    masks.bound();
  }
  add_weights(row_mask_weights(run.schedule, claims.oracles, claims.mask_tensor, bound.variables),
              {columns, vector.weights()});
  HidingProverMasking masking(run, *masks.vectors);
  prove_vectors(run, vector, std::move(bound), codewords_of(claims.witnesses), masking);
}

}  // namespace

void prove_hiding_opening(ProverTranscript& transcript, std::span<const CommittedOracle> oracles,
                          std::span<const OracleWitness> witnesses,
                          std::span<const std::vector<ClaimOf<Affine>>> claims, const HidingClaims& hiding,
                          const HidingMasks& masks, Communicator& comm) {
  const Transcript::Scope scope = transcript.scope("opening");
  const OpeningSchedule schedule = opening_schedule(oracles);
  MaskedRows rows(masks.rows);
  transcript.send("masked sum", rows.mask_sum());
  const E eta = transcript.challenge("batch constraints");
  const E gamma = transcript.challenge("batch claims");
  prove_masked({transcript, schedule, comm},
               {oracles, witnesses, batch_hidden(schedule, oracles, claims, hiding, eta, gamma), hiding.masks}, rows,
               masks);
}

void prove_equality_opening(ProverTranscript& transcript, std::span<const CommittedOracle> oracles,
                            std::span<const OracleWitness> witnesses, std::span<const LinearForm> forms,
                            std::size_t mask_tensor, const HidingMasks& masks, Communicator& comm) {
  const Transcript::Scope scope = transcript.scope("opening");
  const OpeningSchedule schedule = opening_schedule(oracles);
  MaskedRows rows(masks.rows);
  transcript.send("masked sum", rows.mask_sum());
  const E gamma = transcript.challenge("batch claims");
  prove_masked({transcript, schedule, comm},
               {oracles, witnesses, batch_differences(schedule, forms, gamma), mask_tensor}, rows, masks);
}

}  // namespace tessera
