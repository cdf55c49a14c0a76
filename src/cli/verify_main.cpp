#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include "archive/hdf5.hpp"
#include "archive/isolated.hpp"
#include "base/errors.hpp"

#include "base/text.hpp"
#include "cli/exit_code.hpp"
#include "cli/verify_each.hpp"
#include "cli/verify_judge.hpp"
#include "cli/version.hpp"

namespace tessera::cli {
namespace {

struct Options {
  std::string key;
  std::vector<std::string> proofs;  // parts of one conversation, in order; with `each` files and directories
  bool each = false;
  std::size_t jobs = 0;  // 0: the cores
  bool json = false;
  std::string expect_key;
  std::vector<std::string> expect_prompt;  // of the first parts, one each
};

/// Empty if the text is a digest as this program prints it, else what is wrong.
std::string check_digest(const std::string& text) {
  const bool good =
      text.size() == 2 * sizeof(Digest) && text.find_first_not_of("0123456789abcdef") == std::string::npos;
  return good ? "" : "expected 64 lower-case hexadecimal digits, found " + quoted_name(text);
}

Judge open_key(const Options& options) {
  Judge judge{options.key, load_key_isolated(options.key), {}};
  judge.digest = judge.key.digest();
  if (!options.expect_key.empty() && options.expect_key != to_hex(judge.digest)) {
    throw InputError(options.key + ": key digest: expected " + options.expect_key + ", found " + to_hex(judge.digest));
  }
  if (!options.expect_prompt.empty() && options.expect_prompt.size() != options.proofs.size()) {
    throw InputError("--expect-prompt: expected one for each of the " + std::to_string(options.proofs.size()) +
                     " proofs, or none, found " + std::to_string(options.expect_prompt.size()));
  }
  return judge;
}

/// Ids and text. The text comes from the key's vocabulary, never from the proof file.
void print_ids(const char* what, const VerifyingKey& key, const std::vector<std::uint32_t>& ids) {
  std::cout << what << " (" << ids.size() << " tokens):";
  for (const std::uint32_t id : ids) {
    std::cout << ' ' << id;
  }
  std::cout << "\n\"" << printable(text_of(key, ids)) << "\"\n";
}

/// The parts of a conversation, up to the first that is not accepted; show() is given each.
ExitCode judge_conversation(const Options& options, const Judge& judge,
                            const std::function<void(std::size_t, const Judgement&)>& show) {
  Expectation expected;
  for (std::size_t part = 0; part < options.proofs.size(); ++part) {
    expected.part = part;
    if (!options.expect_prompt.empty()) {
      expected.prompt = options.expect_prompt[part];
    }
    const Judgement judgement = cli::judge(judge, options.proofs[part], expected);
    show(part, judgement);
    if (judgement.code != done) {
      return judgement.code;
    }
    expected.before = judgement.kept;
  }
  return done;
}

EachOptions each_of(const Options& options) { return {options.proofs, options.jobs, options.json}; }

ExitCode run_as_text(const Options& options) {
  const Judge judge = open_key(options);
  std::cout << "key digest " << to_hex(judge.digest) << '\n' << std::flush;  // before there are other processes
  if (options.each) {
    const Tally tally =
        judge_each(judge, each_of(options), [](const std::string& line) { std::cout << line << '\n'
                                                                                    << std::flush; });
    std::cout << tally.line() << '\n';
    return tally.code();
  }
  const auto show = [&](std::size_t part, const Judgement& judgement) {
    if (judgement.statement) {
      print_ids("prompt", judge.key, judgement.statement->prompt);
      print_ids("generated", judge.key, judgement.statement->generated);
    }
    if (judgement.code == rejected) {
      const std::string which =
          options.proofs.size() == 1 ? "" : "part " + std::to_string(part + 1) + ", " + one_line(judgement.file) + ": ";
      std::cout << "REJECTED at " << judgement.scope << ": " << which << judgement.reason << '\n';
    } else if (judgement.code != done) {
      std::cout.flush();
      std::cerr << "tessera-verify: " << judgement.reason << '\n';
    }
  };
  const ExitCode code = judge_conversation(options, judge, show);
  std::cout << (code == done ? "ACCEPTED\n" : "");
  return code;
}

/// One document, also where the key is unusable.
ExitCode run_as_json(const Options& options) {
  JsonDocument document;
  Tally tally;
  std::vector<std::string> proofs;
  const auto write = [&](ExitCode code) {
    document.add("verdict", name_of(code));
    std::cout << document.finish() << std::flush;
    return code;
  };
  document.add("mode", options.each ? "each" : "conversation");
  try {
    const Judge judge = open_key(options);
    document.add("key", {{"file", options.key}, {"digest", to_hex(judge.digest)}});
    if (options.each) {
      tally = judge_each(judge, each_of(options), [&](const std::string& record) { proofs.push_back(record); });
    } else {
      judge_conversation(options, judge, [&](std::size_t, const Judgement& judgement) {
        proofs.push_back(json_line(json_of(judge, judgement)));
        tally.add(judgement.code);
      });
    }
  } catch (...) {
    const Failure failure = describe(std::current_exception());
    std::cerr << "tessera-verify: " << failure.message << '\n';
    document.add("error", failure.message);
    return write(failure.code);
  }
  document.add_lines("proofs", proofs);
  document.add("count", tally.json());
  return write(tally.code());
}

void declare(CLI::App& program, Options& options) {
  program.add_option("--key", options.key, "verifying key of the model")->required();
  program
      .add_option("proof", options.proofs,
                  "proof file, or those of a conversation's parts in order; with --each any files and directories")
      ->required();
  CLI::Option* const each = program.add_flag(
      "--each", options.each,
      "every file is a proof of its own: one line for each and a count; of directories every *.h5 in and below them, "
      "sorted by name");
  program.add_option("--jobs", options.jobs, "processes that verify at a time (default: the cores)")
      ->needs(each)
      ->check(CLI::Range(1U, 4096U));
  program.add_flag("--json", options.json, "one JSON document instead of text");
  program.add_option("--expect-key", options.expect_key, "refuse a key of another digest")->check(check_digest);
  program
      .add_option("--expect-prompt", options.expect_prompt,
                  "reject unless the prompt is what this text becomes under the key's tokenizer, or these token ids "
                  "(digits and commas only); given once for each part")
      ->allow_extra_args(false)
      ->excludes(each);
  program.footer(R"(Several files are parts of one conversation, which is accepted or rejected as a whole:
  tessera-verify --key verifying.key part1.h5 part2.h5

With --each they have nothing to do with each other:
  tessera-verify --key verifying.key --each proofs/ another.h5
  ACCEPTED proofs/a.h5, 22 + 32 tokens
  REJECTED proofs/b.h5, 22 + 32 tokens, at /statement: the proof was made for another verifying key
  UNUSABLE proofs/c.h5: expected an HDF5 file of ours, found an empty file
  ACCEPTED another.h5, 5 + 5 tokens
  4 files: 2 accepted, 1 rejected, 1 unusable
Lines come in the order of the files; tokens are those of prompt and continuation. FAILED is a file that could not be
judged although nothing is known against it: the process that verified it was killed, say. A file that is named twice is
verified once. A part that continues a conversation is rejected: it says nothing without those before it.

Exit codes: 0 accepted (all of them), 1 rejected (one or more), 2 wrong usage or unusable file and none rejected,
3 failure and none rejected.)");
}

int parse_and_run(int argc, char** argv) {
  Options options;
  CLI::App program("Check a proof, or many, that a committed model generated a text.", "tessera-verify");
  program.set_version_flag("--version", version_of("tessera-verify"), "print release, format version and compiler");
  declare(program, options);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? done : unusable;
  }
  const ExitCode code = options.json ? run_as_json(options) : run_as_text(options);
  if (!std::cout.flush() && (options.each || options.json)) {
    throw JobError("standard output cannot be written");
  }
  return code;
}

}  // namespace
}  // namespace tessera::cli

int main(int argc, char** argv) {
  using namespace tessera::cli;
  ignore_write_signals();
  try {
    return parse_and_run(argc, argv);
  } catch (...) {
    const Failure failure = describe(std::current_exception());
    std::cout.flush();
    std::cerr << "tessera-verify: " << failure.message << std::endl;
    return failure.code;
  }
}
