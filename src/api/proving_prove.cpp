#include "api/proving.hpp"

#include "lookup/strange_value.hpp"

namespace tessera {
namespace {

/// A scope of the job that is no scope of the transcript.
class JobScope {
 public:
  JobScope(JobFollower& follower, std::string_view name) : follower_(follower), name_(name) { follower_.begins(name_); }
  ~JobScope() { follower_.ends(name_); }
  JobScope(const JobScope&) = delete;
  JobScope& operator=(const JobScope&) = delete;

 private:
  JobFollower& follower_;
  std::string_view name_;
};

/// Inference of the statement, or what an earlier run of the job has left of it.
Trace make_trace(const ProvingJob& job, const ModelPlan& plan, JobFollower& follower, Communicator& comm) {
  if (std::optional<Trace> stored = follower.stored_trace(plan, job.statement)) {
    return std::move(*stored);
  }
  const VerifyingKey& key = job.committed.key;
  follower.step("inference");
  try {
    Trace trace = run_inference({key, &job.model.model().parameters}, plan, prompt_rows(job.statement), comm,
                                follower.inferring(), job.past.tensors, follower.generation());
    follower.inferred(plan, job.statement, trace);
    return trace;
  } catch (const RangeError& error) {
    throw_out_of_range(key, error);
  }
}

/// The proof of a statement whose generated ids are known; `known`: of the checkpoints before.
Proof prove_trace(const ProvingJob& job, const ModelPlan& plan, const Trace& trace, ProofCheckpoint known,
                  JobFollower& follower, Communicator& comm) {
  const VerifyingKey& key = job.committed.key;
  StoredCodeword& codeword = *job.committed.codeword;
  const HidingUse* const hiding = job.committed.hiding.get();
  const ParameterTensors& tensors = job.model.tensors();
  ProverOptions options{
      {[&](std::string_view scope) { follower.begins(scope); }, [&](std::string_view scope) { follower.ends(scope); }},
      job.codeword_budget,
      job.past.nodes,
      {},
      std::move(known),
      follower.phases(),
      [&] {
        if (!codeword.compact()) {
          job.model.release_tensors();
        }
      }};
  if (hiding != nullptr) {
    options.hiding = hiding->options(comm);
  }
  codeword.bind(
      plan.parameter_layout, key.parameter_oracle,
      [&] { return hiding != nullptr ? hiding->with_columns(tensors.views()) : tensors.views(); },
      hiding != nullptr ? hiding->salt() : nullptr);
  try {
    return prove_inference(plan, key, job.statement, trace, {tensors, codeword}, comm, options);
  } catch (const StrangeValue& error) {
    throw WrongValue(error.what());
  }
}

std::string check_own_proof(const VerifyingKey& key, const Statement& statement,
                            std::span<const std::uint8_t> payload) {
  const Verdict verdict = verify_inference(key, statement, payload);
  return verdict.accepted ? "" : "the proof that was just made is rejected at " + verdict.scope + ": " + verdict.reason;
}

}  // namespace

void throw_out_of_range(const VerifyingKey& key, const RangeError& error) {
  throw WrongValue(key.hiding_proofs == 0 ? error.what()
                                          : "inference: a value is outside its range; which one is not said, because "
                                            "the key is hiding");
}

ProvenStatement prove_statement(ProvingJob job, JobFollower& follower, Communicator& comm) {
  const VerifyingKey& key = job.committed.key;
  std::optional<JobScope> scope(std::in_place, follower, "/inference");
  const PassShape pass = PassShape::of(job.statement);
  const ModelPlan plan = ModelPlan::of(key, pass, pass.division(comm.size()));
  job.model.divide(plan.division);
  follower.planned(job, plan);
  const Trace trace = make_trace(job, plan, follower, comm);
  ProofCheckpoint known = follower.known();
  job.statement.generated = known.generated = trace.generated_tokens();
  if (const PhaseListener finished = follower.phases()) {
    finished(ProofPhase::inference, known);
  }
  scope.reset();
  follower.step("proving");
  ProvenStatement proven;
  proven.proof = prove_trace(job, plan, trace, std::move(known), follower, comm);
  proven.soundness = soundness_report(plan, key);
  follower.step("checking the proof");
  follower.made(proven.proof.payload);
  scope.emplace(follower, "/check");
  if (job.checks) {
    proven.rejected = check_own_proof(key, job.statement, proven.proof.payload);
  }
  scope.reset();
  proven.statement = std::move(job.statement);
  return proven;
}

}  // namespace tessera
