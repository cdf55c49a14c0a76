#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/progress.hpp"
#include "cli/sampling_options.hpp"
#include "cluster/mpi_communicator.hpp"
#include "opening/opening.hpp"

namespace tessera {
class JobFollower;  // api/proving.hpp
}

namespace tessera::cli {

/// What a subcommand runs with.
struct Context {
  MpiCommunicator& comm;
  Progress& progress;
  int threads = 1;
  std::string configuration;       // all options as resolved, a JSON object
  int chosen_threads = 0;          // by option; 0: `threads` is the default
  JobFollower* watcher = nullptr;  // of every proving job: told of plan, trace and scopes
};

// The subcommands: their options, and what is done with them, one a file. Those that are one process's work run on rank
// 0 alone, the others on every rank.

struct ImportCommand {
  std::string checkpoint, out, calibrate, exponents;
  std::string width;  // "t=16" … "t=28"; empty: chosen
  std::optional<std::size_t> context;
  std::optional<double> margin;
};
void run(const ImportCommand& options, Context& context);

struct SynthesizeCommand {
  std::string shape, out;
  std::optional<std::size_t> context;
  std::uint64_t seed = 0;
};
void run(const SynthesizeCommand& options, Context& context);

struct EvaluateCommand {
  std::string model, text, checkpoint;
};
void run(const EvaluateCommand& options, Context& context);

struct CommitCommand {
  std::string model, out, secret;
  bool compact = false, hiding = false;
  std::uint64_t proofs = 0;
  std::optional<std::uint32_t> exceptions = {};  // nothing: the default of such keys
};
void run(const CommitCommand& options, Context& context);

struct RenewCommand {
  std::string model, commitment, renewed, out;
};
void run(const RenewCommand& options, Context& context);

/// Tokens that one proof generates at most.
inline constexpr std::uint32_t max_generated = 4096;

struct GenerateCommand {
  std::string model;
  std::optional<std::string> prompt;
  std::string messages;   // file
  bool requests = false;  // from standard input, instead of one prompt
  std::vector<std::uint32_t> tokens;
  std::uint32_t generate = 0;
  bool until_end = false;
  std::string ids;  // file to write
  SamplingOptions sampling;
};
void run(const GenerateCommand& options, Context& context);

struct ProveCommand {
  static constexpr double gibibyte = 1 << 30;
  std::string model, commitment, out, scratch, checkpoint;
  double every = 0;         // minutes
  std::string keep, start;  // directories of states: to write, to continue
  std::optional<std::string> prompt;
  std::string messages;  // file
  std::vector<std::uint32_t> tokens;
  std::string prompts;            // file of prompts, a text a line: `out` is a directory then
  std::string prompt_ids;         // the same of ids
  std::uint32_t generate = 0;     // 0: as many as are expected
  bool until_end = false;         // fewer, if an end token comes before
  std::string expect;             // file of the text that has been generated elsewhere
  std::string expect_ids;         // the same of ids
  std::uint32_t pass_length = 0;  // 0: Statement's own
  SamplingOptions sampling;
  double memory = static_cast<double>(default_codeword_budget) / gibibyte;  // GiB
};
/// The file of many prompts, of texts or of ids; empty: none.
inline const std::string& prompts_file(const ProveCommand& options) {
  return options.prompts.empty() ? options.prompt_ids : options.prompts;
}
void run(const ProveCommand& options, Context& context);

struct InspectCommand {
  std::string file;
  bool check = false;
  bool json = false;
};
void run(const InspectCommand& options, Context& context);

struct GatherCommand {
  std::vector<std::string> files;  // and directories
  std::string extract;             // archive, instead of files
  std::string out;                 // archive; with `extract` a directory
};
void run(const GatherCommand& options, Context& context);

struct ReportCommand {
  std::vector<std::string> proofs;
  std::string key, expect_key, out;
  std::vector<std::string> renewals;  // of the key
};
void run(const ReportCommand& options, Context& context);

struct DescribeCommand {
  std::string key;
  std::size_t prompt_length = 0;
  std::size_t generate = 0;
  std::size_t past = 0;
  bool keeps = false;
  std::size_t pass_length = 0;
  SamplingOptions sampling;
  bool json = false;
  std::string page;
};
void run(const DescribeCommand& options, Context& context);

struct PlanCommand {
  std::string model, key, shape, tokens, rates, out;
  int ranks = 1;
  int nodes = 1;
  std::size_t past = 0;
  bool keeps = false;
  std::size_t pass_length = 0;
  SamplingOptions sampling;
  bool compact = false;
  double memory = static_cast<double>(default_codeword_budget) / ProveCommand::gibibyte;  // GiB
  bool measure = false;
  bool json = false;
};
void run(const PlanCommand& options, Context& context);

}  // namespace tessera::cli
