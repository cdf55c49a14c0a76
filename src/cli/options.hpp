#pragma once

#include <string>

#include "cli/cli11.hpp"
#include "cli/command.hpp"
#include "cli/path_options.hpp"

namespace tessera::cli {

/// Options of every subcommand.
struct CommonOptions {
  int threads = 0;  // 0: the cores of this machine, shared among its ranks
  std::string log;
  std::string progress;  // empty: automatic
  bool quiet = false;
};

/// What tessera is called with: each subcommand's options.
struct Options {
  CommonOptions common;
  PathOptions paths;
  ImportCommand import;
  EvaluateCommand evaluate;
  CommitCommand commit;
  RenewCommand renew;
  GenerateCommand generate;
  ProveCommand prove;
  GatherCommand gather;
  InspectCommand inspect;
  ReportCommand report;
  DescribeCommand describe;
  PlanCommand plan;
  SynthesizeCommand synthesize;
};

/// The ranks that a subcommand runs on: what is one process's work, on the first.
enum class Ranks : std::uint8_t { first, all };

/// Calls visit(name, description, ranks, command) for each subcommand.
template <class SomeOptions, class Visit>
void for_each_command(SomeOptions& options, const Visit& visit) {
  visit("import", "Quantize a checkpoint into a model file", Ranks::first, options.import);
  visit("evaluate", "Perplexity of the integer model beside the float model", Ranks::all, options.evaluate);
  visit("commit", "Commit to a model's parameters and write the verifying key", Ranks::all, options.commit);
  visit("renew", "Prove that a new hiding commitment is to the same parameters as one whose proofs run out", Ranks::all,
        options.renew);
  visit("generate", "Generate text as prove does, without a proof: prove --expect-ids proves it later", Ranks::all,
        options.generate);
  visit("prove", "Generate text and prove that this model generated it", Ranks::all, options.prove);
  visit("gather", "Put many proofs into one archive, or take them out again", Ranks::first, options.gather);
  visit("inspect", "Say what a file of ours is and what is in it", Ranks::first, options.inspect);
  visit("report", "Make a page about proofs, for people: one HTML file", Ranks::first, options.report);
  visit("describe", "Say what proofs of a key's statements are: tensors, look-ups, messages, soundness", Ranks::first,
        options.describe);
  visit("plan", "Say what a job will cost without running it: time, memory, who owns what", Ranks::all, options.plan);
  visit("synthesize", "Make a model of a given shape with seeded random parameters, for measuring", Ranks::first,
        options.synthesize);
}

/// Subcommands and options of tessera, which are filled in when it parses: help, manual pages and completion are made
/// from them.
void declare(CLI::App& program, Options& options);

}  // namespace tessera::cli
