#include "cli/verify_options.hpp"

#include <CLI/CLI.hpp>

#include "cli/version.hpp"

namespace tessera::cli {
namespace {

constexpr const char* footer = R"(A file may be -, which is standard input.

An accepted proof says that the key's model, after the prompt, generates these tokens first. Where the last one is one
after which the model says no more, the text is complete, and the line says which it was. Else it is cut off: how many
tokens there are was the prover's choice, and a text may stop before a "not".

Several files are parts of one conversation, which is accepted or rejected as a whole:
  tessera-verify --key verifying.key part1.h5 part2.h5

With --each they have nothing to do with each other:
  tessera-verify --key verifying.key --each proofs/ another.h5
  ACCEPTED proofs/a.h5, 22 + 32 tokens, cut off at 32 tokens
  REJECTED proofs/b.h5, 22 + 32 tokens, at /statement: the proof was made for another verifying key
  UNUSABLE proofs/c.h5: expected an HDF5 file of ours, found an empty file
  ACCEPTED another.h5, 5 + 5 tokens, complete (ended by "<|im_end|>", token 2)
  4 files: 2 accepted, 1 rejected, 1 unusable
Lines come in the order of the files, of an archive that tessera gather made in that of its proofs, as
"ACCEPTED archive.h5: a.h5, 22 + 32 tokens, ..."; tokens are those of prompt and continuation. FAILED is a file that could not be
judged although nothing is known against it: the process that verified it was killed, say. A file that is named twice is
verified once. A part that continues a conversation is rejected: it says nothing without those before it.

Exit codes: 0 accepted (all of them), 1 rejected (one or more), 2 wrong usage or unusable file and none rejected,
3 failure and none rejected, or what is printed cannot be written.)";

/// The key, and what is verified under it.
void declare_proofs(CLI::App& program, VerifyOptions& options, PathOptions& paths) {
  paths.reads(program.add_option("--key", options.key, "verifying key of the model"))->required();
  CLI::Option* const renewals =
      paths
          .reads(program.add_option(
              "--renewal", options.renewals,
              "renewal of the key, which goes on to another commitment to the same parameters: proofs are "
              "verified with the new key; given again for the renewal of that one"))
          ->allow_extra_args(false);
  paths.reads(program.add_option(
                  "proof", options.proofs,
                  "proof file, or those of a conversation's parts in order; with --each any files and directories; an "
                  "archive of many proofs stands for each of them"),
              path_argument);
  program.callback([&options, renewals] {
    if (options.proofs.empty() && renewals->count() == 0) {
      throw CLI::RequiredError("proof");
    }
  });
}

/// Returns --each.
CLI::Option* declare_each(CLI::App& program, VerifyOptions& options) {
  CLI::Option* const each = program.add_flag(
      "--each", options.each,
      "every file is a proof of its own: one line for each and a count; of directories every *.h5 in and below them, "
      "sorted by name");
  program.add_option("--jobs", options.jobs, "processes that verify at a time (default: the cores)")
      ->needs(each)
      ->check(CLI::Range(1U, 4096U));
  program.add_flag("--json", options.json, "one JSON document instead of text");
  return each;
}

/// What the key and the prompts must be.
void declare_expected(CLI::App& program, VerifyOptions& options, PathOptions& paths, CLI::Option* each) {
  program
      .add_option("--expect-key", options.expect_key,
                  "refuse a key of another digest; beside the digest stands that it was compared")
      ->transform(CLI::Validator(check_digest, ""));
  CLI::Option* const texts = program
                                 .add_option("--expect-prompt", options.expect.texts,
                                             "reject unless the prompt is what this text becomes under the key's "
                                             "tokenizer; given once for each part")
                                 ->allow_extra_args(false)
                                 ->excludes(each);
  CLI::Option* const ids =
      program
          .add_option("--expect-ids", options.expect.ids,
                      "reject unless the prompt is these token ids, separated by commas; given once for each part")
          ->check(check_ids)
          ->allow_extra_args(false)
          ->excludes(texts)
          ->excludes(each);
  paths
      .reads(program.add_option("--expect-messages", options.expect.messages,
                                "reject unless the prompt is what the messages of this JSON file become under the "
                                "key's chat template; given once for each part (needs the Python package, part chat)"))
      ->allow_extra_args(false)
      ->excludes(texts)
      ->excludes(ids)
      ->excludes(each);
}

/// How tokens must be drawn.
void declare_expected_sampling(CLI::App& program, VerifyOptions& options) {
  program
      .add_option("--expect-sampling", options.sampling.parameters,
                  "reject unless tokens are drawn just so, as temperature=0.7,top_k=40,top_p=0.95,min_p=0.05: without "
                  "top_k 64, without the others nothing is left out; temperature=0: each is the best one")
      ->check(check_sampling_text);
  CLI::Option* const seed =
      program
          .add_option("--expect-seed", options.sampling.seed,
                      "reject unless tokens are drawn by this seed, 64 hexadecimal digits that you have chosen")
          ->transform(CLI::Validator(check_digest, ""));
  CLI::Option* const commitment =
      program
          .add_option("--seed-commitment", options.sampling.commitment,
                      "the seed is the hash of --expect-seed and a number of the prover's, of which this was published "
                      "first: its BLAKE2s-256")
          ->transform(CLI::Validator(check_digest, ""))
          ->needs(seed);
  CLI::Option* const opening = program
                                   .add_option("--seed-opening", options.sampling.opening,
                                               "that number, which the prover has told with the proof")
                                   ->transform(CLI::Validator(check_digest, ""))
                                   ->needs(commitment);
  commitment->needs(opening);
}

}  // namespace

void declare(CLI::App& program, VerifyOptions& options) {
  program.name("tessera-verify");
  program.description("Check a proof, or many, that a committed model generated a text.");
  program.set_version_flag("--version", version_of("tessera-verify"), "print release, format version and build");
  declare_proofs(program, options, options.paths);
  CLI::Option* const each = declare_each(program, options);
  declare_expected(program, options, options.paths, each);
  program.add_option("--max-exceptions", options.max_exceptions,
                     "reject proofs in which more values than this left their range and were clamped (default: as many "
                     "as the key allows)");
  declare_expected_sampling(program, options);
  program.footer(footer);
}

}  // namespace tessera::cli
