#include <gtest/gtest.h>
#include <omp.h>

#include <ctime>
#include <numeric>

#include "architecture/inference.hpp"
#include "cluster/thread_communicator.hpp"
#include "words/codeword.hpp"
#include "cost/rates.hpp"
#include "integer_model/integer_model.hpp"
#include "integer_model/synthesis.hpp"
#include "plan/witness.hpp"
#include "protocol/protocol.hpp"

namespace tessera::test {
namespace {

CheckpointConfig gpt2_config() {
  CheckpointConfig config;
  config.shape = {3, 192, 6, 768, 2048, 256};
  return config;
}

CheckpointConfig llama_config() {
  CheckpointConfig config;
  config.shape = {3, 128, 4, 352, 1024, 256};
  config.shape.layers = rotary_layers;
  config.shape.n_kv_head = 2;
  config.shape.head_dim = 32;
  config.shape.qkv_bias = false;
  config.ropes = {Rope{}};
  config.activation = ActivationKind::silu;
  return config;
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::size_t bytes_of(const IntegerTensor& tensor) {
  return std::visit([](const auto* values) { return values->values().size() * sizeof(values->values()[0]); }, tensor);
}

/// What a job did on the rank that did most of it.
struct Done {
  double seconds = 0;     // of a processor, inference included
  double lookups = 0;     // of all ranks
  double parameters = 0;  // bytes
  double tensors = 0;     // bytes: recorded, and committed ones that nothing else holds
  double codeword = 0;    // elements
  VerifyingKey key;
  PassShape pass;
};

/// Ranks are threads, each with one of its own.
Done run_job(const Model& model, const PassShape& pass, int ranks) {
  std::vector<Done> all(static_cast<std::size_t>(ranks));
  run_ranks(ranks, [&](Communicator& comm) {
    omp_set_num_threads(1);
    Done& done = all[static_cast<std::size_t>(comm.rank())];
    done.key = make_verifying_key(model);
    done.pass = pass;
    const ModelPlan plan = ModelPlan::of(done.key, pass, pass.division(ranks));
    const auto tensors = ParameterTensors::of(model.shape, model.parameters, comm.rank(), plan.division);
    const auto codeword = commit_oracle(plan.parameter_layout, done.key.parameter_oracle, tensors.views(), comm);
    done.key.parameter_root = codeword->root();
    Statement statement = statement_of(pass);
    std::iota(statement.prompt.begin(), statement.prompt.end(), 7U);
    double start = thread_seconds();
    const Trace trace = run_inference(integer_model(model), plan, statement.prompt, comm);
    statement.generated = trace.generated_tokens();
    (void)prove_inference(plan, done.key, statement, trace, {tensors, *codeword}, comm);
    done.seconds = thread_seconds() - start;

    const std::unique_ptr<Witness> witness = make_witness(plan, statement, trace, tensors, comm);
    for (const std::vector<std::int64_t>& table : witness->multiplicities) {
      done.lookups += static_cast<double>(std::accumulate(table.begin(), table.end(), std::int64_t{0}));
    }
    for (const IntegerTensor& tensor : tensors.views()) {
      done.parameters += static_cast<double>(bytes_of(tensor));
    }
    for (const IntegerTensor& tensor : witness->recorded) {
      done.tensors += static_cast<double>(bytes_of(tensor));
    }
    for (std::size_t i = 0; i < witness->tensors.size(); ++i) {
      if (plan.witness_sources[i].kind == Source::Kind::layer) {
        done.tensors += static_cast<double>(bytes_of(witness->tensors[i]));
      }
    }
    const Codeword encoded = encode_oracle(plan.witness_layout, plan.witness_oracle, witness->tensors, false, comm);
    done.codeword = static_cast<double>(encoded.leaf_values * encoded.levels.front().size());
  });
  Done most = all.front();
  for (const Done& done : all) {
    most.seconds = std::max(most.seconds, done.seconds);
    most.parameters = std::max(most.parameters, done.parameters);
    most.tensors = std::max(most.tensors, done.tensors);
    most.codeword = std::max(most.codeword, done.codeword);
  }
  return most;
}

double amount(const JobCost& cost, Phase phase) { return cost.amounts[static_cast<std::size_t>(phase)]; }

/// What the job's plan counts is what the job had.
void expect_counts(const Done& done, const ModelPlan& plan, const JobCost& cost, int ranks) {
  double rows = 0;
  for (const LookupTable& table : plan.lookup.tables) {
    rows += static_cast<double>(std::size_t{1} << table.log_size);
  }
  const double leaves = amount(cost, Phase::lookup);
  if (ranks == 1) {
    EXPECT_EQ(leaves, done.lookups + rows);
  }
  EXPECT_GE(1.001 * leaves, (done.lookups + rows) / ranks);
  EXPECT_LE(leaves, 1.5 * (done.lookups + rows) / ranks);
  EXPECT_NEAR(amount(cost, Phase::commitment) / done.codeword, 1, 0.01);
  EXPECT_NEAR(cost.parameters / done.parameters, 1, 0.05);
  const double derived =
      std::accumulate(plan.derived.begin(), plan.derived.end(), 0.0, [&](double sum, const DeclaredTensor& tensor) {
        const std::size_t held = owned_chunks(tensor.shape, tensor.ownership, ranks - 1, ranks).size();
        return sum + tensor.bytes * static_cast<double>(held << tensor.shape.inner_bits());
      });
  EXPECT_NEAR((done.tensors + derived) / cost.activations, 1, 0.15);
}

TEST(SlowCost, is_that_of_jobs) {
  constexpr double most_apart = 2.5;
  double least = 1e9, most = 0;
  int quotients = 0;
  for (const CheckpointConfig& config : {gpt2_config(), llama_config()}) {
    const Model model = synthesize_model(config, 1);
    for (const PassShape& pass :
         {PassShape{.prompt = 40, .generated = 24}, PassShape{.prompt = 100, .generated = 28}}) {
      for (const int ranks : {1, 2}) {
        SCOPED_TRACE(std::string(!config.shape.rotary() ? "GPT-2" : "Llama") + ", " + std::to_string(pass.prompt) +
                     " tokens, ranks: " + std::to_string(ranks));
        const Done done = run_job(model, pass, ranks);
        const ModelPlan plan = ModelPlan::of(done.key, pass, pass.division(ranks));
        const JobCost cost =
            cost_of(plan, done.key, {.ranks = ranks, .compact = true, .codeword_budget = default_codeword_budget});
        expect_counts(done, plan, cost, ranks);
        const Rates rates = nominal_rates();
        const double seconds = seconds_of(cost, rates) - seconds_of(Phase::check, cost, rates);
        const double quotient = seconds / done.seconds;
        RecordProperty("quotient" + std::to_string(quotients++), std::to_string(quotient));
        least = std::min(least, quotient);
        most = std::max(most, quotient);
      }
    }
  }
  // the machine's speed is the same to all of them; times that followed no length and no ranks would be 4 times apart
  EXPECT_LE(most / least, most_apart);
}

}  // namespace
}  // namespace tessera::test
