#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include "api/commitment.hpp"
#include "archive/hdf5.hpp"
#include "archive/model_file.hpp"
#include "memory/storage.hpp"
#include "cluster/serialization.hpp"

#include "cli/command.hpp"
#include "base/text.hpp"
#include "cli/pipeline.hpp"

namespace tessera::cli {
namespace {

constexpr double gibibyte = 1 << 30;

struct Options {
  std::string model, commitment, prompt, out, scratch;
  std::vector<std::uint32_t> tokens;
  std::uint32_t generate = 0;
  double memory = static_cast<double>(default_codeword_budget) / gibibyte;
};

/// Rank 0 resolves the prompt; all ranks get the same plan.
JobPlan make_plan(const Options& options, const Model& model, Context& context) {
  JobPlan plan;
  if (context.comm.rank() == 0) {
    plan.prompt = options.tokens.empty() ? encode_text(model, options.prompt) : options.tokens;
    plan.generate = options.generate;
    plan.model = options.model;
    plan.commitment = options.commitment;
    plan.out = options.out;
    plan.scratch = options.scratch;
    plan.memory = static_cast<std::uint64_t>(options.memory * gibibyte);
    plan.configuration = context.configuration;
  }
  broadcast_object(context.comm, plan);
  if (plan.prompt.empty()) {
    throw InputError("--prompt: expected at least one token, found none");
  }
  for (const std::uint32_t id : plan.prompt) {
    if (id >= model.shape.n_vocab) {
      throw InputError("--tokens: expected ids below " + std::to_string(model.shape.n_vocab) + ", found " +
                       std::to_string(id));
    }
  }
  const std::size_t total = plan.prompt.size() + plan.generate;
  if (total > model.shape.n_positions) {
    throw InputError("--prompt and --generate: expected at most " + std::to_string(model.shape.n_positions) +
                     " tokens together, found " + std::to_string(total));
  }
  return plan;
}

std::string decode(const VerifyingKey& key, const std::vector<std::uint32_t>& ids) {
  std::string text;
  for (const std::uint32_t id : ids) {
    text += key.tokenizer.vocabulary.at(id);
  }
  return text;
}

void run(const Options& options, Context& context) {
  Communicator& comm = context.comm;
  keep_freed_heap();
  context.progress.begin("reading model and commitment");
  Model model = load_model(options.model, comm.rank(), comm.size());
  const CommittedModel committed = open_commitment(options.model, model, options.commitment, comm);
  const VerifyingKey& key = committed.key;
  if (comm.rank() == 0) {
    (void)WriteFile(options.out, proof_format);  // an unwritable target is better found now
  }
  const JobPlan plan = make_plan(options, model, context);
  ProofArchive proof = prove_model(std::move(model), key, *committed.codeword, plan, comm, context.progress);
  proof.key_digest = key.digest();
  proof.text = decode(key, proof.statement.prompt) + decode(key, proof.statement.generated);
  proof.configuration = plan.configuration;
  proof.machine.ranks = static_cast<std::uint32_t>(comm.size());
  proof.machine.threads = static_cast<std::uint32_t>(context.threads);
  context.progress.finish();
  if (comm.rank() == 0) {
    save_proof(options.out, proof);
    std::printf("%s\n\n%s: proof of %zu bytes, %zu + %zu tokens, %.1f bits round by round, %.1f all together\n",
                printable(proof.text).c_str(), one_line(options.out).c_str(), proof.payload.size(),
                proof.statement.prompt.size(), proof.statement.generated.size(), proof.soundness.round_by_round_bits(),
                proof.soundness.union_bits());
  }
}

}  // namespace

Command add_prove(CLI::App& program) {
  const auto options = std::make_shared<Options>();
  CLI::App* const app = program.add_subcommand("prove", "Generate text and prove that this model generated it");
  app->add_option("--model", options->model, "model file")->required();
  app->add_option("--commitment", options->commitment, "directory written by commit")->required();
  CLI::Option_group* const prompt = app->add_option_group("prompt", "one of");
  prompt->add_option("--prompt", options->prompt, "text to continue");
  prompt->add_option("--tokens", options->tokens, "token ids to continue, separated by commas")->delimiter(',');
  prompt->require_option(1);
  app->add_option("--generate", options->generate, "number of tokens to generate")
      ->required()
      ->check(CLI::Range(1U, 4096U));
  app->add_option("--out", options->out, "proof file to write")->required();
  app->add_option("--scratch", options->scratch, "directory for each rank's trace (default: kept in memory)");
  app->add_option("--memory", options->memory,
                  "GiB a rank for the codeword of the witness; of a larger one, what is opened is computed again")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1024.0));
  return {app, [options](Context& context) { run(*options, context); }};
}

}  // namespace tessera::cli
