#include <tessera/prove.hpp>

#include "api/commitment.hpp"
#include "architecture/inference.hpp"
#include "archive/model_file.hpp"
#include "archive/staged_directory.hpp"
#include "archive/state_file.hpp"
#include "base/errors.hpp"
#include "cluster/agreement.hpp"
#include "plan/witness.hpp"
#include "protocol/protocol.hpp"

namespace tessera {

namespace {

/// Nothing false leaves the library: a damaged or foreign commitment or a machine that computes wrongly shows here.
/// Collective.
void check_own_proof(const VerifyingKey& key, const StoredProof& proof, Communicator& comm) {
  fail_together(comm, [&] {
    if (comm.rank() == 0) {
      const Verdict verdict = verify_inference(key, proof.statement, proof.payload);
      if (!verdict.accepted) {
        throw JobError("the proof that was just made is rejected at " + verdict.scope + ": " + verdict.reason);
      }
    }
  });
}

}  // namespace

StoredProof prove(const ProveRequest& request, Communicator& comm) {
  const PassShape pass{.prompt = request.prompt.size(), .generated = request.generate, .sampling = request.sampling};
  const Division division = pass.division(comm.size());
  Model model = load_model(request.model, comm.rank(), division);
  const CommittedModel committed = open_commitment(request.model, model, request.commitment, comm);
  const VerifyingKey& key = committed.key;
  const Past past = load_state(request.start, key, ModelPlan::state_shapes(key.shape), comm);
  StoredProof proof;
  proof.statement = {request.prompt,      std::vector<std::uint32_t>(request.generate),
                     past.state,          !request.keep.empty(),
                     request.pass_length, request.sampling};
  proof.key_digest = key.digest();
  const ModelPlan plan = ModelPlan::of(key, proof.statement, comm.size());
  std::optional<StagedDirectory> directory;  // an unwritable one is better found now
  if (proof.statement.keeps) {
    directory.emplace(request.keep, comm);
  }
  const Trace trace =
      run_inference({key, &model.parameters}, plan, prompt_rows(proof.statement), comm, {}, past.tensors);
  proof.statement.generated = trace.generated_tokens();
  ParameterTensors parameters = ParameterTensors::of(model.shape, std::move(model.parameters), comm.rank(), division);
  const HidingUse* const hiding = committed.hiding.get();
  ProverOptions options{.past_nodes = past.nodes, .parameters_bound = [&] {
                          if (!committed.codeword->compact()) {
                            parameters = {};
                          }
                        }};
  if (hiding != nullptr) {
    options.hiding = hiding->options(comm);
  }
  committed.codeword->bind(
      plan.parameter_layout, key.parameter_oracle,
      [&] { return hiding != nullptr ? hiding->with_columns(parameters.views()) : parameters.views(); },
      hiding != nullptr ? hiding->salt() : nullptr);
  Proof made = prove_inference(plan, key, proof.statement, trace, parameters, *committed.codeword, comm, options);
  proof.payload = std::move(made.payload);
  check_own_proof(key, proof, comm);
  if (directory) {
    save_state(directory->path(), proof.key_digest, {made.kept, std::move(made.state), std::move(made.state_nodes)},
               comm);
    directory->commit(state_manifest, state_rows_prefix);
  }
  return proof;
}

}  // namespace tessera
