#include "memory/storage.hpp"
#include "opening/batch.hpp"
#include "opening/first_vector.hpp"
#include "opening/opening.hpp"
#include "opening/opening_steps.hpp"
#include "opening/vector_weights.hpp"

namespace tessera {

BoundRows bind_row_variables(const OpeningRun& run, std::span<const CommittedOracle> oracles,
                             std::span<const OracleWitness> witnesses, const ClaimBatch& batch) {
  const OpeningSchedule& schedule = run.schedule;
  RowTables waiting = row_tables(oracles, witnesses, batch, run.comm);
  BoundVariables bound(schedule.row_variables);
  JoiningProducts products;
  SumcheckProver rounds(run.transcript, products, E::zero());
  for (unsigned round = 0; round < schedule.row_variables; ++round) {
    for (std::size_t j = 0; j < oracles.size(); ++j) {
      if (round == schedule.row_variables - schedule.oracles[j].log_rows) {
        rounds.add_to_claim(batch.targets[j]);
        products.join(std::move(waiting.products[j]));
      }
    }
    bound.push(rounds.round({}, {schedule.row_work(0), &run.comm}));
  }
  return {rounds.claim(), bound};
}

void prove_opening(ProverTranscript& transcript, std::span<const CommittedOracle> oracles,
                   std::span<const OracleWitness> witnesses, std::span<const std::vector<Claim>> claims,
                   Communicator& comm) {
  const Transcript::Scope scope = transcript.scope("opening");
  const OpeningSchedule schedule = opening_schedule(oracles);
  const OpeningRun run{transcript, schedule, comm};
  const ResidueShares shares = shares_of_first_vector(schedule, comm);
  // as long as all tensors are there, more pages than those of v_0 would wait unused
  trim_storage(share_size(schedule, shares) * sizeof(E));
  const ClaimBatch batch = batch_claims(oracles, claims, transcript.challenge("batch claims"));
  BoundRows rows = bind_row_variables(run, oracles, witnesses, batch);
  ZeroedVector<E> values = first_vector(schedule, oracles, witnesses, rows.variables, shares, comm);
  for (const OracleWitness& witness : witnesses) {
    if (witness.bound) {
      witness.bound();
    }
  }
  VectorSummand vector(std::move(values), claim_weights(schedule, oracles, batch, rows.variables, shares), shares,
                       comm);
  ProverMasking none;
  prove_vectors(run, vector, std::move(rows), codewords_of(witnesses), none);
}

}  // namespace tessera
