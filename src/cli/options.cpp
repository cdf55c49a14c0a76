#include "cli/options.hpp"

#include <CLI/CLI.hpp>
#include <array>

#include "cli/verify_request.hpp"
#include "cli/version.hpp"
#include "plan/limits.hpp"

namespace tessera::cli {
namespace {

// What commands write into directories. A secret and a count of uses are not among them: `commit` may be given the one
// that is there.
constexpr std::array commitment_files{Members{"verifying.key", "", Content::key},
                                      Members{"codeword.h5", "", Content::codeword},
                                      Members{"codeword-", ".h5", Content::codeword_rows}};
constexpr std::array state_files{Members{"state.h5", "", Content::state},
                                 Members{"keys_values", "", Content::state_rows}};
constexpr std::array trace_files{Members{"trace-", ".h5", Content::trace}};
constexpr std::array checkpoint_files{
    Members{"inference.checkpoint", "", Content::checkpoint}, Members{"commitment.checkpoint", "", Content::checkpoint},
    Members{"lookups.checkpoint", "", Content::checkpoint}, Members{"layers.checkpoint", "", Content::checkpoint}};
constexpr std::array proof_files{Members{"", ".h5", Content::proof, 6}};

void declare(CLI::App& app, ImportCommand& options, PathOptions& paths) {
  paths
      .reads(app.add_option("--checkpoint", options.checkpoint,
                            "folder with config.json, *.safetensors, tokenizer; or a GGUF file"),
             path_argument)
      ->required();
  paths.writes(app.add_option("--out", options.out, "model file to write"), Content::model)->required();
  CLI::Option* const calibrate = paths.reads(app.add_option(
      "--calibrate", options.calibrate, "text to calibrate on, beside the battery (default: sampled from the model)"));
  CLI::Option* const exponents =
      paths
          .reads(app.add_option("--exponents", options.exponents,
                                "take exponents, widths and powers of two of this verifying key or model file"))
          ->excludes(calibrate);
  app.add_option("--margin", options.margin, "room above the largest values of calibration, times them (default: 1.25)")
      ->check(CLI::Range(1.0, 1024.0))
      ->excludes(exponents);
  app.add_option("--width", options.width, "Llama family: bits of the gated product t (default: chosen)")
      ->check(CLI::IsMember({"t=16", "t=20", "t=24", "t=28"}))
      ->excludes(exponents);
  app.add_option("--context", options.context,
                 "Llama family: positions (default: up to 2048, or as --exponents has it)")
      ->check(CLI::Range(2U, 4096U));
}

void declare(CLI::App& app, EvaluateCommand& options, PathOptions& paths) {
  paths.reads_by_name(app.add_option("--model", options.model, "model file"))->required();
  paths.reads(app.add_option("--text", options.text, "text file to score"))->required();
  paths.reads(app.add_option("--checkpoint", options.checkpoint,
                             "compare with this float model: folder with config.json, *.safetensors; or a GGUF file"),
              path_argument);
}

void declare(CLI::App& app, CommitCommand& options, PathOptions& paths) {
  paths.reads_by_name(app.add_option("--model", options.model, "model file"))->required();
  paths
      .writes(app.add_option("--out", options.out, "directory for the commitment and verifying.key"), commitment_files)
      ->required();
  app.add_flag("--compact", options.compact,
               "keep the Merkle tree's upper part alone: little disk, opened columns are computed while proving");
  CLI::Option* const hiding =
      app.add_flag("--hiding", options.hiding, "proofs under this key show nothing of the weights");
  CLI::Option* const proofs =
      app.add_option("--proofs", options.proofs, "with --hiding: how many proofs the commitment is good for")
          ->check(CLI::Range(std::uint64_t{1}, static_cast<std::uint64_t>(limit_of("hiding_proofs").most)))
          ->needs(hiding);
  hiding->needs(proofs);
  paths
      .reads_by_name(
          app.add_option("--secret", options.secret,
                         "with --hiding: file of 32 random bytes, from which the commitment can be made again "
                         "(default: new)"))
      ->needs(hiding);
  app.add_option(
         "--exceptions", options.exceptions,
         "how many values of a proof may leave the range that calibration found and be clamped: the proof says in "
         "clear which and by how much, the rest stays hidden under a hiding key (default: 4096; with --hiding 0)")
      ->check(CLI::Range(std::uint64_t{0}, static_cast<std::uint64_t>(limit_of("exceptions").most)));
}

void declare(CLI::App& app, RenewCommand& options, PathOptions& paths) {
  paths.reads_by_name(app.add_option("--model", options.model, "model file"))->required();
  paths
      .reads(
          app.add_option("--commitment", options.commitment, "directory written by commit --hiding, with a proof left"),
          directory_argument)
      ->required();
  paths
      .reads(app.add_option("--renewed", options.renewed, "another one of the same model, with another secret"),
             directory_argument)
      ->required();
  paths
      .writes(app.add_option("--out", options.out, "renewal file to write, for tessera-verify --renewal"),
              Content::renewal)
      ->required();
}

void declare_pass_length(CLI::App& app, auto& length) {
  app.add_option(
         "--pass-length", length,
         "rows of a pass, a power of two: all passes are proven together (default: 8 to 128, by the number of tokens)")
      ->check([](const std::string& text) {
        const bool good = text.size() <= 3 && is_pass_length(std::strtoull(text.c_str(), nullptr, 10));
        return good ? std::string() : "expected " + std::string(pass_length_text) + ", found " + text;
      });
}

/// `length`: of what only lengths matter. Then there is no seed.
CLI::Option* declare_sampling(CLI::App& app, SamplingOptions& options, bool length = false) {
  CLI::Option* const temperature =
      app.add_option("--temperature", options.temperature,
                     "sample tokens at this temperature, 0.03125 to 16; 0: always the best one (default)")
          ->check(CLI::Range(0.0, 16.0));
  CLI::Option* const top_k =
      app.add_option(
             "--top-k", options.top_k,
             "with --temperature: from how many best ones, which the proof lists in clear, so not under a hiding "
             "key (default: from the whole vocabulary, and the proof shows nothing of it)")
          ->check(CLI::Range(1U, max_top_k))
          ->needs(temperature);
  if (length) {
    return temperature;
  }
  app.add_option("--top-p", options.top_p,
                 "with --top-k: of these the fewest whose probabilities come to this much (default: all)")
      ->check(CLI::Range(1e-5, 1.0))
      ->needs(temperature)
      ->needs(top_k);
  app.add_option("--min-p", options.min_p,
                 "with --temperature: leave out what is less probable than the best one times this (default: none)")
      ->check(CLI::Range(0.0, 1.0))
      ->needs(temperature);
  CLI::Option* const seed =
      app.add_option("--seed", options.seed,
                     "with --temperature: 64 hexadecimal digits, from who asks for the text: they decide, with the "
                     "position, which token is drawn (default: drawn at random, and printed)")
          ->transform(CLI::Validator(check_digest, ""))
          ->needs(temperature);
  app.add_option("--seed-opening", options.opening,
                 "with --seed: 64 secret hexadecimal digits whose BLAKE2s-256 was published before --seed was known: "
                 "the seed is the hash of both")
      ->transform(CLI::Validator(check_digest, ""))
      ->needs(seed);
  return temperature;
}

void declare_until_end(CLI::App& app, bool& until_end) {
  app.add_flag("--until-end", until_end,
               "stop after an end token of the model, if it chooses one before there are as many tokens")
      ->needs("--generate");
}

void declare_messages(CLI::App& prompt, std::string& messages, PathOptions& paths) {
  paths.reads(prompt.add_option("--messages", messages,
                                "JSON file of messages, each of a role and a content: the model's chat template makes "
                                "the prompt of them (needs the Python package, part chat)"));
}

void declare(CLI::App& app, GenerateCommand& options, PathOptions& paths) {
  paths.reads_by_name(app.add_option("--model", options.model, "model file"))->required();
  CLI::Option_group* const prompt = app.add_option_group("prompt", "one of");
  prompt->add_option("--prompt", options.prompt, "text to continue");
  prompt->add_option("--tokens", options.tokens, "token ids to continue, separated by commas")->delimiter(',');
  declare_messages(*prompt, options.messages, paths);
  CLI::Option* const requests = prompt->add_flag(
      "--requests", options.requests,
      "requests from standard input, one after another, JSON objects a line; answers likewise (guide, chat)");
  prompt->require_option(1);
  CLI::Option* const generate = app.add_option("--generate", options.generate, "number of tokens to generate")
                                    ->check(CLI::Range(1U, max_generated))
                                    ->excludes(requests);
  app.callback([generate, requests] {
    if (generate->count() == 0 && requests->count() == 0) {
      throw CLI::RequiredError("--generate");
    }
  });
  declare_until_end(app, options.until_end);
  declare_sampling(app, options.sampling);
  paths.writes(app.add_option("--ids", options.ids, "file for the ids that were generated, for prove --expect-ids")
                   ->excludes(requests),
               Content::ids);
}

/// Options of `prove` that name many prompts, each proven on its own.
struct ManyPrompts {
  CLI::Option* texts;
  CLI::Option* ids;

  /// Makes an option one that a single prompt has.
  void exclude(CLI::Option* option) const { option->excludes(texts)->excludes(ids); }
};

ManyPrompts declare_prompt(CLI::App& app, ProveCommand& options, PathOptions& paths) {
  CLI::Option_group* const prompt = app.add_option_group("prompt", "one of");
  prompt->add_option("--prompt", options.prompt, "text to continue");
  prompt->add_option("--tokens", options.tokens, "token ids to continue, separated by commas")->delimiter(',');
  CLI::Option* const texts = paths.reads(prompt->add_option(
      "--prompts", options.prompts, "file of texts, one a line, each proven on its own into --out, a directory"));
  CLI::Option* const ids = paths.reads(prompt->add_option("--prompt-ids", options.prompt_ids,
                                                          "the same of token ids, separated by commas, in each line"));
  declare_messages(*prompt, options.messages, paths);
  prompt->require_option(0, 1);
  return {texts, ids};
}

void declare_state(CLI::App& app, ProveCommand& options, PathOptions& paths, const ManyPrompts& many) {
  many.exclude(paths.reads(
      app.add_option("--continue", options.start, "state directory of an earlier part: its conversation goes on"),
      directory_argument));
  many.exclude(paths.writes(
      app.add_option("--keep", options.keep, "directory for the state that a later part continues"), state_files));
}

/// How many tokens, or which.
void declare_length(CLI::App& app, ProveCommand& options, PathOptions& paths, const ManyPrompts& many) {
  CLI::Option_group* const length = app.add_option_group("length", "one of");
  length->add_option("--generate", options.generate, "number of tokens to generate")
      ->check(CLI::Range(1U, max_generated));
  many.exclude(paths.reads(length->add_option(
      "--expect", options.expect,
      "file of the text that has been generated elsewhere: proven without generating it one by one, if it "
      "is what the model generates")));
  many.exclude(paths.reads(
      length->add_option("--expect-ids", options.expect_ids,
                         "the same of token ids, separated by commas: safer, since a text has more than one split")));
  length->require_option(1);
  declare_until_end(app, options.until_end);
  declare_pass_length(app, options.pass_length);
}

/// What a job leaves for another run of it.
void declare_checkpoints(CLI::App& app, ProveCommand& options, PathOptions& paths, const ManyPrompts& many) {
  many.exclude(paths.writes(
      app.add_option("--scratch", options.scratch, "directory for each rank's trace (default: kept in memory)"),
      trace_files));
  CLI::Option* const checkpoint = paths.writes(
      app.add_option("--checkpoint", options.checkpoint,
                     "directory for what finished phases come to: a job that was interrupted continues from there"),
      checkpoint_files);
  many.exclude(checkpoint);
  app.add_option("--every", options.every, "minutes between checkpoints at least (default: after every phase)")
      ->needs(checkpoint)
      ->check(CLI::Range(0.0, 1e6));
}

void declare(CLI::App& app, ProveCommand& options, PathOptions& paths) {
  paths.reads_by_name(app.add_option("--model", options.model, "model file"))->required();
  paths.reads(app.add_option("--commitment", options.commitment, "directory written by commit"), directory_argument)
      ->required();
  const ManyPrompts many = declare_prompt(app, options, paths);
  declare_state(app, options, paths, many);
  declare_length(app, options, paths, many);
  declare_sampling(app, options.sampling);
  paths
      .writes(app.add_option("--out", options.out, "proof file to write; with --prompts and --prompt-ids a directory"),
              [&options] {
                return prompts_file(options).empty() ? Target{Target::Form::file, Content::proof}
                                                     : Target{Target::Form::directory, {}, proof_files};
              })
      ->required();
  declare_checkpoints(app, options, paths, many);
  app.add_option("--memory", options.memory,
                 "GiB a rank for the codeword of the witness; of a larger one, what is opened is computed again")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1024.0));
}

void declare(CLI::App& app, GatherCommand& options, PathOptions& paths) {
  CLI::Option_group* const from = app.add_option_group("from", "one of");
  paths.reads_proofs(from->add_option("files", options.files,
                                      "proof files, and directories: every *.h5 in and below them, sorted by name"));
  paths.reads(from->add_option("--extract", options.extract, "archive to take all proofs out of"));
  from->require_option(1);
  paths
      .writes(app.add_option("--out", options.out, "archive to write; with --extract a new or empty directory"),
              [&options] {
                return options.extract.empty() ? Target{Target::Form::file, Content::proofs}
                                               : Target{Target::Form::new_directory};
              })
      ->required();
}

void declare(CLI::App& app, InspectCommand& options, PathOptions& paths) {
  paths
      .reads(app.add_option(
          "file", options.file,
          "model, key, codeword, trace, state or proof file, archive of proofs, commitment or state directory"))
      ->required();
  app.add_flag("--check", options.check, "read everything and check all digests");
  app.add_flag("--json", options.json, "one JSON object");
}

void declare(CLI::App& app, ReportCommand& options, PathOptions& paths) {
  paths
      .reads(app.add_option("proofs", options.proofs,
                            "proof files; one that continues a conversation follows the part before it"))
      ->required();
  CLI::Option* const key = paths.reads(app.add_option(
      "--key", options.key, "verifying key: verifies the proofs; texts of tokens and bytes by message need it, too"));
  paths
      .reads(app.add_option(
          "--renewal", options.renewals,
          "renewal of the key: proofs are verified with the new one; given again for the renewal of that"))
      ->needs(key)
      ->allow_extra_args(false);
  app.add_option("--expect-key", options.expect_key,
                 "refuse a key of another digest; the page says that it was compared")
      ->needs(key)
      ->transform(CLI::Validator(check_digest, ""));
  paths.writes(app.add_option("--out", options.out, "HTML file to write"), Content::page)->required();
}

void declare(CLI::App& app, DescribeCommand& options, PathOptions& paths) {
  paths.reads(app.add_option("--key", options.key, "verifying key"))->required();
  app.add_option("--prompt-length", options.prompt_length, "tokens of the prompt")->required();
  app.add_option("--generate", options.generate, "generated tokens")->required();
  app.add_option("--past", options.past, "positions in the state that is continued (0: a beginning)");
  app.add_flag("--keep", options.keeps, "a state is kept");
  declare_pass_length(app, options.pass_length);
  declare_sampling(app, options.sampling, true);
  app.add_flag("--json", options.json, "one JSON object");
  app.add_option("--page", options.page, "one table, as the pages in src/spec have it")
      ->check(CLI::IsMember(
          {"limits", "declarations", "messages", "soundness", "words", "columns", "tables", "parameters", "witness"}));
}

void declare(CLI::App& app, SynthesizeCommand& options, PathOptions& paths) {
  paths.reads(app.add_option("--shape", options.shape, "config.json of the shape"))->required();
  app.add_option("--seed", options.seed, "seed of the parameters")->required();
  app.add_option("--context", options.context, "Llama family: positions (default: up to 2048)")
      ->check(CLI::Range(2U, 4096U));
  paths.writes(app.add_option("--out", options.out, "model file to write"), Content::model)->required();
}

void declare(CLI::App& app, PlanCommand& options, PathOptions& paths) {
  CLI::Option* const model = paths.reads_by_name(app.add_option("--model", options.model, "model file"));
  CLI::Option* const key =
      paths.reads(app.add_option("--key", options.key, "verifying key, instead of a model"))->excludes(model);
  paths
      .reads(app.add_option("--shape", options.shape, "config.json of a model that need not exist, instead of a model"))
      ->excludes(model)
      ->excludes(key);
  app.add_option("--tokens", options.tokens, "PROMPT+GENERATED, as 448+64; or the number of all, half of it a prompt");
  app.add_option("--ranks", options.ranks, "ranks of the job")->capture_default_str()->check(CLI::Range(1, 65536));
  app.add_option("--nodes", options.nodes, "machines that they are on")
      ->capture_default_str()
      ->check(CLI::Range(1, 65536));
  app.add_option("--past", options.past, "positions in the state that is continued (0: a beginning)");
  app.add_flag("--keep", options.keeps, "a state is kept");
  declare_pass_length(app, options.pass_length);
  declare_sampling(app, options.sampling, true);
  app.add_flag("--compact", options.compact, "of a commitment that was made with --compact");
  app.add_option("--memory", options.memory, "as of prove")->capture_default_str()->check(CLI::Range(0.0, 1024.0));
  paths.reads(app.add_option("--rates", options.rates, "file of rates (default: below $XDG_CACHE_HOME or ~/.cache)"));
  app.add_flag("--json", options.json, "one JSON object");
  app.add_flag("--measure", options.measure,
               "measure this machine's rates and keep them; under mpirun those of its ranks together");
  paths.writes(app.add_option("--out", options.out, "with --measure: file of rates to write"), Content::rates)
      ->needs("--measure");
}

void declare(CLI::App& app, CommonOptions& common, PathOptions& paths) {
  app.add_option("--threads", common.threads,
                 "threads of each rank (default: the machine's cores, shared by its ranks)")
      ->check(CLI::Range(1, 4096));
  paths.writes(app.add_option("--log", common.log, "file for progress lines (default: standard error)"), Content::log);
  app.add_option("--progress", common.progress,
                 "none, plain, bar or json: an object a line (default: a bar on a terminal, else plain lines)")
      ->check(CLI::IsMember({"none", "plain", "bar", "json"}));
  app.add_flag("--quiet", common.quiet, "no progress lines, as --progress none");
  app.footer("Options may also stand in a table [" + app.get_name() + "] of a file given by --config FILE.toml.");
  app.fallthrough();  // --config belongs to the program
}

}  // namespace

void declare(CLI::App& program, Options& options) {
  program.name("tessera");
  program.description("Prove that a committed GPT-2 or Llama-family model generated a text.");
  program.set_version_flag("--version", version_of("tessera"), "print release, format version and build");
  options.paths.reads_by_name(program.set_config("--config", "", "TOML file with options, one table a subcommand"));
  program.require_subcommand(1);
  program.footer(
      "A file to read may be -, which is standard input. Of what an output replaces there must be nothing, or what the "
      "same command writes; no output may be an input, whatever names lead to it.\n"
      "TESSERA_INSTRUCTIONS in the environment: the widest instruction set that is used, scalar, avx2, avx512 or ifma, "
      "on Arm scalar or neon (default: what the processor has); results are the same.\n"
      "Threads that wait sleep after some tens of microseconds, as with OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=10000 "
      "in the "
      "environment, unless one of the two is set there.\n"
      "Exit codes: 0 done, 2 wrong usage or unusable input, 3 job failed.");
  for_each_command(options, [&](const char* name, const char* description, Ranks /*ranks*/, auto& command) {
    CLI::App* const app = program.add_subcommand(name, description);
    declare(*app, command, options.paths);
    declare(*app, options.common, options.paths);
  });
}

}  // namespace tessera::cli
