#include <tessera/prove.hpp>

#include "api/commitment.hpp"
#include "architecture/gpt2/inference.hpp"
#include "archive/model_file.hpp"
#include "plan/witness.hpp"
#include "protocol/protocol.hpp"

namespace tessera {

StoredProof prove(const ProveRequest& request, Communicator& comm) {
  Model model = load_model(request.model, comm.rank(), comm.size());
  const CommittedModel committed = open_commitment(request.model, model, request.commitment, comm);
  const Gpt2Plan plan = Gpt2Plan::of(committed.key, request.prompt.size(), request.generate);
  StoredProof proof{{request.prompt, std::vector<std::uint32_t>(request.generate)}, {}, committed.key.digest()};
  check_statement(committed.key, proof.statement);
  const Trace trace = run_inference({committed.key, &model.parameters}, plan, request.prompt, comm);
  proof.statement.generated = trace.generated_tokens();
  const ParameterTensors parameters =
      ParameterTensors::of(model.shape, std::move(model.parameters), comm.rank(), comm.size());
  proof.payload =
      prove_inference(plan, committed.key, proof.statement, trace, parameters, *committed.codeword, comm).payload;
  return proof;
}

}  // namespace tessera
