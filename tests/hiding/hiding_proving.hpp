#pragma once

#include "../protocol/proving.hpp"
#include "commitment/hiding_leaves.hpp"
#include "plan/hiding_witness.hpp"
#include "protocol/hiding.hpp"
#include "seed.hpp"

namespace tessera::test {

/// prove_job() under a hiding key that is good for `proofs` proofs.
inline Job prove_hidden_job(const Model& model, const std::vector<std::uint32_t>& prompt, std::size_t generate,
                            int ranks = 1, int threads = 1, std::string_view seed = "seed", std::uint64_t proofs = 1) {
  std::vector<Job> jobs(static_cast<std::size_t>(ranks));
  run_ranks(ranks, [&](Communicator& comm) {
    omp_set_num_threads(threads);
    Job& job = jobs[static_cast<std::size_t>(comm.rank())];
    job.key = make_verifying_key(model);
    job.key.hiding_proofs = proofs;
    const OracleLayout layout = parameter_layout(job.key);
    const ParameterTensors parameters = ParameterTensors::of(model.shape, model.parameters, comm.rank(), comm.size());
    const HidingSecret secret(seed_of("secret"));
    const ChunkedTensor<std::int64_t> tail = random_columns(layout.tensors().back(), secret.columns, comm);
    std::vector<IntegerTensor> tensors = parameters.views();
    tensors.emplace_back(&tail);
    const auto codeword =
        commit_oracle(layout, job.key.parameter_oracle, tensors, comm, default_codeword_budget,
                      salted_leaves(layout, job.key.parameter_oracle, *secret.salt, salt_elements, comm));
    job.key.parameter_root = codeword->root();
    const ModelPlan plan = ModelPlan::of(job.key, prompt.size(), generate);
    const Trace trace = run_inference(integer_model(model), plan, prompt, comm);
    job.padded_tokens = trace.tokens.size();
    job.statement.prompt = prompt;
    job.statement.generated = trace.generated_tokens();
    job.payload = prove_inference(plan, job.key, job.statement, trace, parameters, *codeword, comm,
                                  {.hiding = HidingOptions{&tail, seed_of(seed)}})
                      .payload;
  });
  for (const Job& job : jobs) {
    if (job.payload != jobs.front().payload || job.statement != jobs.front().statement ||
        job.key.parameter_root != jobs.front().key.parameter_root) {
      throw std::logic_error("the ranks of one job differ");
    }
  }
  return std::move(jobs.front());
}

}  // namespace tessera::test
