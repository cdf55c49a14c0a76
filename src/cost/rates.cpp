#include "cost/rates.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "architecture/inference.hpp"
#include "integer_model/integer_model.hpp"
#include "integer_model/synthesis.hpp"
#include "plan/witness.hpp"
#include "protocol/protocol.hpp"

namespace tessera {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Seconds of one proof on this rank; all ranks check it.
ByPhase prove_once(const Model& model, const VerifyingKey& key, const ModelPlan& plan, const ParameterTensors& tensors,
                   CodewordStore& codeword, Communicator& comm) {
  Statement statement = statement_of(plan.pass);
  std::iota(statement.prompt.begin(), statement.prompt.end(), 7U);
  comm.barrier();
  Clock::time_point start = Clock::now();
  const Trace trace = run_inference({key, &model.parameters}, plan, statement.prompt, comm);
  ByPhase seconds{};
  seconds[std::size_t(Phase::inference)] = seconds_since(start);
  statement.generated = trace.generated_tokens();
  const Proof proof = prove_inference(plan, key, statement, trace, {tensors, codeword}, comm);
  for (const auto& [scope, spent] : proof.timings) {
    if (const std::optional<Phase> phase = phase_of(scope)) {
      seconds[std::size_t(*phase)] += spent;
    }
  }
  start = Clock::now();
  if (!verify_inference(key, statement, proof.payload).accepted) {  // its plan is not divided
    throw JobError("the proof of a model for measuring is rejected");
  }
  seconds[std::size_t(Phase::check)] = seconds_since(start);
  return seconds;
}

}  // namespace

std::optional<Rates> rates_for(const MachineRates& rates, const JobShape& job) {
  const auto apart = [](int a, int b) { return std::abs(std::log(static_cast<double>(a) / b)); };
  const auto distance = [&](const Rates& entry) {
    return apart(entry.ranks, job.ranks) + apart(entry.nodes, job.nodes) + apart(entry.threads, job.threads);
  };
  const auto nearest = std::ranges::min_element(rates.list, {}, distance);
  if (nearest == rates.list.end()) {
    return std::nullopt;
  }
  std::optional<Rates> result = *nearest;
  for (double& seconds : result->seconds) {
    seconds *= static_cast<double>(nearest->threads) / job.threads;
  }
  return result;
}

Rates measure_rates(int threads, int nodes, double process_bytes, Communicator& comm) {
  omp_set_num_threads(threads);
  CheckpointConfig config;
  config.shape = {2, 768, 12, 3072, 2048, 512};
  const PassShape pass{.prompt = 100, .generated = 28};
  const Model model = synthesize_model(config, 1);
  VerifyingKey key = make_verifying_key(model);
  const ModelPlan plan = ModelPlan::of(key, pass, pass.division(comm.size()));
  const auto tensors = ParameterTensors::of(model.shape, model.parameters, comm.rank(), plan.division);
  const auto codeword = commit_oracle(plan.parameter_layout, key.parameter_oracle, tensors.views(), comm);
  key.parameter_root = codeword->root();
  std::array<std::int64_t, phase_count + 1> most{};  // of the ranks, in the faster of two proofs: nanoseconds, bytes
  most.fill(INT64_MAX);
  for (int repetition = 0; repetition < 2; ++repetition) {  // pages are fresh in the first one
    const ByPhase seconds = prove_once(model, key, plan, tensors, *codeword, comm);
    std::ranges::transform(seconds, most, most.begin(), [](double spent, std::int64_t before) {
      return std::min<std::int64_t>(std::llround(spent * 1e9), before);
    });
  }
  most.back() = std::llround(process_bytes);
  comm.all_reduce_max(most);
  Rates rates{comm.size(), nodes, threads, {}, static_cast<double>(most.back())};
  const JobCost cost =
      cost_of(plan, key, {.ranks = comm.size(), .compact = true, .codeword_budget = default_codeword_budget});
  for (std::size_t i = 0; i < phase_count; ++i) {
    rates.seconds[i] = static_cast<double>(most[i]) / 1e9 / cost.amounts[i];
  }
  return rates;
}

}  // namespace tessera
