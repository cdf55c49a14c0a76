#include <tessera/prove.hpp>

#include "api/proving.hpp"
#include "archive/staged_directory.hpp"
#include "cluster/agreement.hpp"

namespace tessera {

StoredProof prove(const ProveRequest& request, Communicator& comm) {
  ProverModel model(request.model, comm, false);
  const CommittedModel committed = open_commitment(request.model, model.model(), request.commitment, comm);
  const VerifyingKey& key = committed.key;
  const Past past = load_state(request.start, key, ModelPlan::state_shapes(key.shape), comm);
  Statement statement{request.prompt,      std::vector<std::uint32_t>(request.generate),
                      past.state,          !request.keep.empty(),
                      request.pass_length, request.sampling};
  std::optional<StagedDirectory> directory;  // an unwritable one is better found now
  if (statement.keeps) {
    directory.emplace(request.keep, comm);
  }
  JobFollower nobody;
  ProvenStatement proven =
      prove_statement({model, committed, std::move(statement), past, comm.rank() == 0}, nobody, comm);
  fail_together(comm, [&] {
    if (!proven.rejected.empty()) {
      throw JobError(proven.rejected);
    }
  });
  StoredProof stored;
  stored.statement = std::move(proven.statement);
  stored.payload = std::move(proven.proof.payload);
  stored.key_digest = committed.key_digest;
  if (directory) {
    save_state(directory->path(), stored.key_digest,
               {proven.proof.kept, std::move(proven.proof.state), std::move(proven.proof.state_nodes)}, comm);
    directory->commit(state_manifest, state_rows_prefix);
  }
  return stored;
}

}  // namespace tessera
