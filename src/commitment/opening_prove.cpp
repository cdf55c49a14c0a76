#include "commitment/bound_claims.hpp"
#include "commitment/first_vector.hpp"
#include "commitment/opening.hpp"
#include "commitment/opening_steps.hpp"
#include "commitment/vector_weights.hpp"
#include "memory/storage.hpp"

namespace tessera {

BoundRows bind_row_variables(ProverTranscript& transcript, const OpeningSchedule& schedule,
                             std::span<const CommittedOracle> oracles, std::span<const OracleWitness> witnesses,
                             std::span<const std::vector<Claim>> claims, E gamma, Communicator& comm) {
  const std::vector<E> targets = batch_values(oracles, claims, gamma);
  RowTables waiting = row_tables(oracles, witnesses, Batch::of(claims, gamma), comm);
  BoundVariables bound(schedule.row_variables);
  JoiningProducts products;
  SumcheckProver rounds(transcript, products, E::zero());
  for (unsigned round = 0; round < schedule.row_variables; ++round) {
    for (std::size_t j = 0; j < oracles.size(); ++j) {
      if (round == schedule.row_variables - schedule.oracles[j].log_rows) {
        rounds.add_to_claim(targets[j]);
        products.join(std::move(waiting.products[j]));
      }
    }
    bound.push(rounds.round({}, {schedule.row_work(0), &comm}));
  }
  return {rounds.claim(), bound};
}

void prove_opening(ProverTranscript& transcript, std::span<const CommittedOracle> oracles,
                   std::span<const OracleWitness> witnesses, std::span<const std::vector<Claim>> claims,
                   Communicator& comm) {
  const Transcript::Scope scope = transcript.scope("opening");
  const OpeningSchedule schedule = opening_schedule(oracles);
  const ResidueShares shares = shares_of_first_vector(schedule, comm);
  // as long as all tensors are there, more pages than those of v_0 would wait unused
  trim_storage(share_size(schedule, shares) * sizeof(E));
  const E gamma = transcript.challenge("batch claims");
  BoundRows rows = bind_row_variables(transcript, schedule, oracles, witnesses, claims, gamma, comm);
  const Batch batch = Batch::of(claims, gamma);
  ZeroedVector<E> values = first_vector(schedule, oracles, witnesses, rows.variables, shares, comm);
  for (const OracleWitness& witness : witnesses) {
    if (witness.bound) {
      witness.bound();
    }
  }
  VectorSummand vector(std::move(values),
                       claim_weights(schedule, oracles, batch.forms, batch.coefficients, rows.variables, shares),
                       shares, comm);
  prove_vectors({transcript, schedule, comm}, vector, std::move(rows), codewords_of(witnesses));
}

}  // namespace tessera
