#include <omp.h>
#include <sched.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <thread>

#include "cli/command.hpp"
#include "cli/configuration.hpp"
#include "cli/exit_code.hpp"
#include "cli/version.hpp"
#include "cluster/mpi_communicator.hpp"
#include "plan/limits.hpp"

namespace tessera::cli {
namespace {

/// The cores that this process may use, shared among the ranks of the machine unless the launcher has bound each to its
/// own.
int default_threads(int ranks_on_node) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof(cores), &cores);
  const int allowed = CPU_COUNT(&cores);
  const bool bound = allowed < static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, bound ? allowed : allowed / ranks_on_node);
}

void declare(CLI::App& app, ImportCommand& options) {
  app.add_option("--checkpoint", options.checkpoint, "folder with config.json, *.safetensors, tokenizer")->required();
  app.add_option("--out", options.out, "model file to write")->required();
  CLI::Option* const calibrate =
      app.add_option("--calibrate", options.calibrate, "text to calibrate on (default: sampled from the model)");
  CLI::Option* const exponents =
      app.add_option("--exponents", options.exponents,
                     "take exponents, widths and powers of two of this verifying key or model file")
          ->excludes(calibrate);
  app.add_option("--width", options.width, "Llama family: bits of the gated product t (default: chosen)")
      ->check(CLI::IsMember({"t=16", "t=20", "t=24"}))
      ->excludes(exponents);
  app.add_option("--context", options.context,
                 "Llama family: positions (default: up to 2048, or as --exponents has it)")
      ->check(CLI::Range(2U, 4096U));
}

void declare(CLI::App& app, EvaluateCommand& options) {
  app.add_option("--model", options.model, "model file")->required();
  app.add_option("--text", options.text, "text file to score")->required();
}

void declare(CLI::App& app, CommitCommand& options) {
  app.add_option("--model", options.model, "model file")->required();
  app.add_option("--out", options.out, "directory for the commitment and verifying.key")->required();
  app.add_flag("--compact", options.compact,
               "keep the Merkle tree's upper part alone: little disk, opened columns are computed while proving");
}

void declare_pass_length(CLI::App& app, auto& length) {
  app.add_option("--pass-length", length,
                 "rows of a pass, a power of two: all passes are proven together (default: 128)")
      ->check([](const std::string& text) {
        const bool good = text.size() <= 3 && is_pass_length(std::strtoull(text.c_str(), nullptr, 10));
        return good ? std::string() : "expected " + std::string(pass_length_text) + ", found " + text;
      });
}

void declare(CLI::App& app, ProveCommand& options) {
  app.add_option("--model", options.model, "model file")->required();
  app.add_option("--commitment", options.commitment, "directory written by commit")->required();
  CLI::Option_group* const prompt = app.add_option_group("prompt", "one of");
  prompt->add_option("--prompt", options.prompt, "text to continue");
  prompt->add_option("--tokens", options.tokens, "token ids to continue, separated by commas")->delimiter(',');
  prompt->require_option(0, 1);
  app.add_option("--continue", options.start, "state directory of an earlier part: its conversation goes on");
  app.add_option("--keep", options.keep, "directory for the state that a later part continues");
  app.add_option("--generate", options.generate, "number of tokens to generate")
      ->required()
      ->check(CLI::Range(1U, 4096U));
  declare_pass_length(app, options.pass_length);
  app.add_option("--out", options.out, "proof file to write")->required();
  app.add_option("--scratch", options.scratch, "directory for each rank's trace (default: kept in memory)");
  app.add_option("--memory", options.memory,
                 "GiB a rank for the codeword of the witness; of a larger one, what is opened is computed again")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1024.0));
}

void declare(CLI::App& app, InspectCommand& options) {
  app.add_option("file", options.file, "model, key, commitment, trace, state or proof file")->required();
  app.add_flag("--check", options.check, "read everything and check all digests");
  app.add_flag("--json", options.json, "one JSON object");
}

void declare(CLI::App& app, DescribeCommand& options) {
  app.add_option("--key", options.key, "verifying key")->required();
  app.add_option("--prompt-length", options.prompt_length, "tokens of the prompt")->required();
  app.add_option("--generate", options.generate, "generated tokens")->required();
  app.add_option("--past", options.past, "positions in the state that is continued (0: a beginning)");
  app.add_flag("--keep", options.keeps, "a state is kept");
  declare_pass_length(app, options.pass_length);
  app.add_flag("--json", options.json, "one JSON object");
  app.add_option("--page", options.page, "one table, as src/README.md has it")
      ->check(CLI::IsMember(
          {"limits", "declarations", "messages", "soundness", "words", "columns", "tables", "parameters", "witness"}));
}

void declare(CLI::App& app, SynthesizeCommand& options) {
  app.add_option("--shape", options.shape, "config.json of the shape")->required();
  app.add_option("--seed", options.seed, "seed of the parameters")->required();
  app.add_option("--context", options.context, "Llama family: positions (default: up to 2048)")
      ->check(CLI::Range(2U, 4096U));
  app.add_option("--out", options.out, "model file to write")->required();
}

/// Options of every subcommand.
struct CommonOptions {
  int threads = 0;  // 0: the cores of this machine, shared among its ranks
  std::string log;
  bool quiet = false;
};

void declare(CLI::App& app, CommonOptions& common) {
  app.add_option("--threads", common.threads,
                 "threads of each rank (default: the machine's cores, shared by its ranks)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--log", common.log, "file for progress lines (default: standard error)");
  app.add_flag("--quiet", common.quiet, "no progress lines");
  app.footer("Options may also stand in a table [" + app.get_name() + "] of a file given by --config FILE.toml.");
  app.fallthrough();  // --config belongs to the program
}

enum class Ranks : std::uint8_t { first, all };

struct Subcommand {
  CLI::App* app = nullptr;
  std::function<void(Context&)> run;
};

template <class Options>
Subcommand add(CLI::App& program, const char* name, Ranks ranks, const char* description) {
  const auto options = std::make_shared<Options>();
  CLI::App* const app = program.add_subcommand(name, description);
  declare(*app, *options);
  return {app, [options, ranks](Context& context) {
            if (ranks == Ranks::all || context.comm.rank() == 0) {
              run(*options, context);
            }
          }};
}

std::vector<Subcommand> add_all(CLI::App& program) {
  return {
      add<ImportCommand>(program, "import", Ranks::first, "Quantize a checkpoint into a model file"),
      add<EvaluateCommand>(program, "evaluate", Ranks::all, "Perplexity of the integer model beside the float model"),
      add<CommitCommand>(program, "commit", Ranks::all, "Commit to a model's parameters and write the verifying key"),
      add<ProveCommand>(program, "prove", Ranks::all, "Generate text and prove that this model generated it"),
      add<InspectCommand>(program, "inspect", Ranks::first, "Say what a file of ours is and what is in it"),
      add<DescribeCommand>(program, "describe", Ranks::first,
                           "Say what proofs of a key's statements are: tensors, look-ups, messages, soundness"),
      add<SynthesizeCommand>(program, "synthesize", Ranks::first,
                             "Make a model of a given shape with seeded random parameters, for measuring"),
  };
}

int run(int argc, char** argv, MpiSession& session) {
  Communicator& comm = session.world();
  CommonOptions common;
  CLI::App program("Prove that a committed GPT-2 or Llama-family model generated a text.", "tessera");
  program.set_version_flag("--version", version_of("tessera"), "print release, format version and compiler");
  program.set_config("--config", "", "TOML file with options, one table a subcommand");
  program.config_formatter(toml_config());
  program.allow_config_extras(CLI::config_extras_mode::error);
  program.require_subcommand(1);
  const std::vector<Subcommand> commands = add_all(program);
  for (const Subcommand& command : commands) {
    declare(*command.app, common);
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = comm.rank() == 0 ? program.exit(error) : error.get_exit_code();
    return code == 0 ? done : unusable;
  }
  const int threads = common.threads > 0 ? common.threads : default_threads(session.ranks_on_node());
  omp_set_num_threads(threads);
  Progress progress(comm.rank() == 0 && !common.quiet, common.log);
  for (const Subcommand& command : commands) {
    if (command.app->parsed()) {
      Context context{comm, progress, threads, resolved_configuration(*command.app, threads)};
      command.run(context);
      comm.barrier();  // no rank leaves before rank 0 has written everything
    }
  }
  std::cout.flush();
  return done;
}

/// Reports an error once and ends the other ranks, which may wait for this one.
[[noreturn]] void end_all(MpiSession& session, const Failure& failure) {
  const int rank = session.world().rank();
  if (rank != 0) {
    // mostly all ranks fail alike: rank 0 speaks for them, and ends them, before they do
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  const std::string prefix = rank == 0 ? "tessera: " : "tessera: rank " + std::to_string(rank) + ": ";
  std::cerr << prefix + failure.message + "\n" << std::flush;
  session.abort(failure.code);
}

}  // namespace
}  // namespace tessera::cli

int main(int argc, char** argv) {
  using namespace tessera::cli;
  ignore_write_signals();
  tessera::MpiSession session(argc, argv);
  try {
    return run(argc, argv, session);
  } catch (...) {
    const Failure failure = describe(std::current_exception());
    if (session.world().size() > 1) {
      end_all(session, failure);
    }
    std::cerr << "tessera: " << failure.message << '\n';
    return failure.code;
  }
}
