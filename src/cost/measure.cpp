#include "cost/measure.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "architecture/inference.hpp"
#include "hash/merkle_tree.hpp"
#include "model/integer_model.hpp"
#include "model/synthesis.hpp"
#include "plan/witness.hpp"
#include "protocol/protocol.hpp"

namespace tessera {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Reference {
  const char* name;
  ModelShape shape;
  std::size_t codeword_budget;  // of the parameters': whether opened columns are computed again
  std::vector<PassShape> statements;
};

ModelShape llama_shape() {
  ModelShape shape{3, 256, 8, 704, 4096, 256};
  shape.architecture = Architecture::llama;
  shape.n_kv_head = 4;
  shape.head_dim = 32;
  shape.qkv_bias = false;
  return shape;
}

/// Different enough in what they are made of that each kind of work weighs in one of them, small enough for seconds.
std::vector<Reference> references() {
  constexpr std::size_t all = std::size_t{1} << 31;
  return {{"a GPT-2 of width 192", {4, 192, 6, 768, 2048, 256}, all, {{8, 8}, {32, 32}, {120, 8}}},
          {"a Llama of width 256", llama_shape(), all, {{16, 16}, {100, 28}}},
          {"a GPT-2 of width 768", {2, 768, 12, 3072, 8192, 512}, 0, {{8, 24}, {120, 8}}}};
}

Model model_of(const Reference& reference) {
  CheckpointConfig config;
  config.shape = reference.shape;
  if (!config.shape.gpt2()) {
    config.activation = "silu";
  }
  return synthesize_model(config, 1);
}

/// A model with everything that its proofs share.
struct Committed {
  Model model;
  VerifyingKey key;
  OracleLayout layout;
  ParameterTensors tensors;
  std::unique_ptr<CodewordStore> codeword;
};

Committed commit(const Reference& reference, Communicator& self, std::vector<Sample>& samples) {
  Committed result{model_of(reference), {}, {}, {}, nullptr};
  result.key = make_verifying_key(result.model);
  result.layout = OracleLayout(parameter_shapes(result.model.shape));
  result.tensors = ParameterTensors::of(result.model.shape, result.model.parameters);
  const Clock::time_point start = Clock::now();
  result.codeword = commit_oracle(result.layout, result.key.parameter_oracle, result.tensors.views(), self,
                                  reference.codeword_budget);
  result.key.parameter_root = result.codeword->root();
  Sample sample;
  sample.work[static_cast<std::size_t>(Work::codeword_element)] =
      std::ldexp(1.0, static_cast<int>(result.layout.log_size() + result.key.parameter_oracle.log_inverse_rate));
  sample.seconds = seconds_since(start);
  samples.push_back(sample);
  return result;
}

/// Seconds by scope of one proof.
std::map<std::string, double> run_once(const Committed& committed, const ModelPlan& plan, Communicator& self) {
  Statement statement = statement_of(plan.pass);
  for (std::size_t i = 0; i < statement.prompt.size(); ++i) {
    statement.prompt[i] = static_cast<std::uint32_t>((i * 997 + 1) % committed.key.shape.n_vocab);
  }
  const Clock::time_point start = Clock::now();
  const Trace trace = run_inference({committed.key, &committed.model.parameters}, plan, statement.prompt, self, {}, {});
  const double inference = seconds_since(start);
  statement.generated = trace.generated_tokens();
  Proof proof = prove_inference(plan, committed.key, statement, trace, committed.tensors, *committed.codeword, self);
  const Clock::time_point check = Clock::now();
  if (!verify_inference(plan, committed.key, statement, proof.payload).accepted) {
    throw JobError("the proof of a model for measuring is rejected");
  }
  proof.timings["/inference"] = inference;
  proof.timings["/check"] = seconds_since(check);
  return proof.timings;
}

void measure(const Reference& reference, Communicator& comm, std::vector<Sample>& samples) {
  SelfCommunicator self;
  const Committed committed = commit(reference, self, samples);
  for (const PassShape& pass : reference.statements) {
    const ModelPlan plan = ModelPlan::of(committed.key, pass);
    const JobShape job{.compact = reference.codeword_budget == 0, .codeword_budget = default_codeword_budget};
    comm.barrier();  // all ranks at once
    std::map<std::string, double> best;
    for (int repetition = 0; repetition < 2; ++repetition) {  // pages are fresh in the first one
      for (const auto& [scope, seconds] : run_once(committed, plan, self)) {
        const auto [entry, added] = best.emplace(scope, seconds);
        entry->second = std::min(entry->second, seconds);
      }
    }
    for (const PhaseCost& phase : proof_cost(plan, committed.key.parameter_oracle, job)) {
      samples.push_back({phase.work, best[phase.scope]});
    }
  }
}

/// Nonces apart: how many a proof tries is chance.
Sample of_nonces() {
  constexpr std::uint64_t tried = std::uint64_t{1} << 17;
  const Clock::time_point start = Clock::now();
  (void)find_nonce({}, 32, 0, tried);
  Sample sample;
  sample.work[static_cast<std::size_t>(Work::nonce)] = static_cast<double>(tried);
  sample.seconds = seconds_since(start);
  return sample;
}

/// Measures the time of a byte that ranks of a node exchange in shared memory: copied there from a rank's cache, and
/// from there into another one's.
void measure_exchange(Communicator& comm, Rates& rates) {
  constexpr std::size_t shown = std::size_t{1} << 23;
  constexpr int calls = 8;
  const auto together = static_cast<std::size_t>(comm.ranks_together());
  if (together == 1) {
    return;
  }
  const std::size_t block = std::min(std::size_t{1} << 17, shown / together);
  const std::size_t piece_bytes = shown / together / block * block;
  std::vector<std::byte> from(block, std::byte{1}), to(block);
  const auto write = [&](std::span<std::byte> pieces) {
    for (; !pieces.empty(); pieces = pieces.subspan(block)) {
      std::ranges::copy(from, pieces.begin());
    }
  };
  const auto read = [&](std::span<const std::span<const std::byte>> pieces) {
    for (std::span<const std::byte> piece : pieces) {
      for (; !piece.empty(); piece = piece.subspan(block)) {
        std::ranges::copy(piece.first(block), to.begin());
      }
    }
  };
  std::shared_ptr<const void> kept = comm.exchange_together(piece_bytes, write, read);
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < calls; ++i) {
    kept = comm.exchange_together(piece_bytes, write, read);
  }
  rates.shown_byte_seconds = seconds_since(start) / static_cast<double>(calls * piece_bytes * (together - 1));
}

/// Measures the time of a collective call, and of a byte from another rank.
void measure_communication(Communicator& comm, Rates& rates) {
  if (comm.size() == 1) {
    return;
  }
  constexpr int calls = 1000;
  std::vector<E> few(2);
  comm.barrier();
  Clock::time_point start = Clock::now();
  for (int i = 0; i < calls; ++i) {
    comm.all_reduce_sum(few);
  }
  rates.call_seconds = seconds_since(start) / calls;
  constexpr std::size_t bytes = std::size_t{1} << 24;
  const std::vector<MessageBytes> send(static_cast<std::size_t>(comm.size()),
                                       MessageBytes(bytes / static_cast<std::size_t>(comm.size() - 1)));
  std::vector<MessageBytes> again = send;
  (void)comm.all_to_all_bytes(send);
  start = Clock::now();
  (void)comm.all_to_all_bytes(std::move(again));
  rates.byte_seconds = seconds_since(start) / static_cast<double>(bytes);
  measure_exchange(comm, rates);
}

/// The mean over all ranks.
void agree(Communicator& comm, Rates& rates) {
  std::vector<double> mine(rates.seconds.begin(), rates.seconds.end());
  mine.insert(mine.end(), {rates.call_seconds, rates.byte_seconds, rates.shown_byte_seconds, rates.process_bytes});
  const std::vector<double> all = comm.all_gather<double>(mine);
  std::vector<double> mean(mine.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    mean[i % mine.size()] += all[i] / comm.size();
  }
  std::copy_n(mean.begin(), work_kinds, rates.seconds.begin());
  rates.call_seconds = mean[work_kinds];
  rates.byte_seconds = mean[work_kinds + 1];
  rates.shown_byte_seconds = mean[work_kinds + 2];
  rates.process_bytes = mean[work_kinds + 3];
}

}  // namespace

Rates measure_rates(int threads, double process_bytes, Communicator& comm,
                    const std::function<void(const std::string&)>& told) {
  Rates rates{.ranks_on_node = comm.size(), .threads = threads, .process_bytes = process_bytes};
  omp_set_num_threads(threads);
  std::vector<Sample> samples{of_nonces()};
  for (const Reference& reference : references()) {
    told(reference.name);
    measure(reference, comm, samples);
  }
  rates.seconds = fit_rates(samples);
  measure_communication(comm, rates);
  agree(comm, rates);
  return rates;
}

}  // namespace tessera
