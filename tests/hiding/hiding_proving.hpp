#pragma once

#include "../protocol/proving.hpp"
#include "hiding_commitment.hpp"
#include "protocol/hiding.hpp"

namespace tessera::test {

struct HiddenJobOptions {
  std::string_view seed = "seed";
  std::size_t codeword_budget = default_codeword_budget;
  std::optional<Sampling> sampling = {};
  std::uint32_t exceptions = 0;
};

/// prove_job() under a hiding key that is good for one proof.
inline Job prove_hidden_job(const Model& model, const std::vector<std::uint32_t>& prompt, std::size_t generate,
                            int ranks = 1, int threads = 1, const HiddenJobOptions& options = {}) {
  std::vector<Job> jobs(static_cast<std::size_t>(ranks));
  run_ranks(ranks, [&](Communicator& comm) {
    omp_set_num_threads(threads);
    Job& job = jobs[static_cast<std::size_t>(comm.rank())];
    const PassShape pass{.prompt = prompt.size(), .generated = generate, .sampling = options.sampling};
    const Division division = pass.division(comm.size());
    const HidingCommitment commitment(model, 1, "secret", comm, division);
    job.key = commitment.key;
    job.key.exceptions = options.exceptions;
    const ModelPlan plan = ModelPlan::of(job.key, pass, division);
    const Trace trace = run_inference(integer_model(model), plan, prompt, comm);
    job.rows = trace.tokens.size();
    job.statement.prompt = prompt;
    job.statement.generated = trace.generated_tokens();
    job.statement.sampling = options.sampling;
    job.payload =
        prove_inference(
            plan, job.key, job.statement, trace, {commitment.parameters, *commitment.codeword}, comm,
            {.codeword_budget = options.codeword_budget,
             .hiding = HidingOptions{[&commitment] { return IntegerTensor(&commitment.tail); }, seed_of(options.seed)}})
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
