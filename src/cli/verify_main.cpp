#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include <optional>

#include "base/errors.hpp"
#include "base/heap.hpp"
#include "base/text.hpp"
#include "cli/exit_code.hpp"
#include "cli/verify_conversation.hpp"
#include "cli/usage_error.hpp"
#include "cli/verify_chat.hpp"
#include "cli/verify_each.hpp"
#include "cli/verify_judge.hpp"
#include "cli/verify_options.hpp"
#include "cli/verify_sources.hpp"
#include "plan/ends.hpp"
#include "transcript/verifier.hpp"
#include "datasets/dataset_file.hpp"

namespace tessera::cli {
namespace {

/// Ids and text, of a key with a chat template by turns. The text comes from the key's vocabulary, never from the proof
/// file; another key's ids have none.
void print_ids(const char* what, const VerifyingKey* key, const std::vector<std::uint32_t>& ids) {
  std::cout << what << " (" << ids.size() << " tokens):";
  for (const std::uint32_t id : ids) {
    std::cout << ' ' << id;
  }
  std::cout << '\n';
  if (key != nullptr && !key->tokenizer.chat.text.empty()) {
    for (const std::string& line : turns_of(key->tokenizer, ids)) {
      std::cout << "  " << line << '\n';
    }
  } else if (key != nullptr) {
    std::cout << '"' << printable(text_of(*key, ids)) << "\"\n";
  }
}

EachOptions each_of(const VerifyOptions& options) { return {options.proofs, options.jobs, options.json}; }

/// An accepted proof says nothing of a model that one knows while nobody has compared the key's digest.
const char* comparison_text(bool compared) {
  return compared ? "compared: it is the digest that was expected\n"
                  : "nobody has compared this digest: --expect-key compares it with one from somebody you trust\n";
}

/// The proof of a conversation of one part is read while the key is.
std::optional<ProofBeside> begin_conversation(const VerifyOptions& options) {
  return options.each ? std::nullopt : begin_reading(options.proofs);
}

ExitCode run_as_text(const VerifyOptions& options, const Judge& judge, std::optional<ProofBeside>&& begun) {
  std::cout << "key digest " << to_hex(judge.given) << '\n' << comparison_text(!options.expect_key.empty());
  for (const RenewedKey& renewal : judge.renewals) {
    std::cout << "renewed to " << to_hex(renewal.digest) << " by " << one_line(renewal.file) << '\n';
  }
  if (const ChatTemplate& chat = judge.key.tokenizer.chat; !chat.text.empty()) {
    std::cout << "chat template of " << chat_text(chat) << '\n';
  }
  std::cout << std::flush;  // before there are other processes
  if (options.proofs.empty()) {
    std::cout << "ACCEPTED\n";
    return done;
  }
  if (options.each) {
    const Tally tally =
        judge_each(judge, each_of(options), [](const std::string& line) { std::cout << line << '\n'
                                                                                    << std::flush; });
    std::cout << tally.line() << '\n';
    return tally.code();
  }
  const std::vector<ProofSource> parts = proofs_in(options.proofs, std::move(begun));
  const auto show = [&](std::size_t part, const Judgement& judgement) {
    if (judgement.made_for) {
      std::cout << "made for the key of digest " << to_hex(*judgement.made_for) << '\n';
    }
    if (judgement.statement) {
      const VerifyingKey* const key = judgement.made_for ? nullptr : &judge.key;
      print_ids("prompt", key, judgement.statement->prompt);
      print_ids("generated", key, judgement.statement->generated);
    }
    if (judgement.code == done) {
      const bool complete = ended_by(judge.key, *judgement.statement).has_value();
      std::cout << judgement.completeness
                << (complete ? ": the model says no more\n" : ": these come first, the model may go on\n");
    }
    if (const std::string sampled = sampled_text(judgement); judgement.code == done && !sampled.empty()) {
      std::cout << sampled
                << (!judgement.seed_expected ? ": who chose it can have tried others, --expect-seed compares it\n"
                    : judgement.parameters_expected
                        ? "\n"
                        : ": who chose them can have tried others, --expect-sampling compares them\n");
    }
    if (judgement.code == done && !judgement.clamped.empty()) {
      std::cout << clamped_text(judgement.clamped) << '\n';
    }
    if (judgement.code == rejected) {
      const std::string which =
          parts.size() == 1 ? "" : "part " + std::to_string(part + 1) + ", " + one_line(judgement.name()) + ": ";
      std::cout << "REJECTED at " << judgement.scope << ": " << which << judgement.reason << '\n';
    } else if (judgement.code != done) {
      std::cout.flush();
      std::cerr << "tessera-verify: " + judgement.reason + "\n" << std::flush;
    }
  };
  const ExitCode code = judge_conversation(judge, parts, options.expect, show);
  std::cout << (code == done ? "ACCEPTED\n" : "");
  return code;
}

ExitCode run_as_text(const VerifyOptions& options) {
  std::optional<ProofBeside> begun = begin_conversation(options);
  std::optional<Judge> judge;
  try {
    judge = open_key(options);
    judge->render = ids_of_messages;
  } catch (const Rejected&) {  // a renewal
    std::cout << describe(std::current_exception()).message << '\n';
    return rejected;
  }
  return run_as_text(options, *judge, std::move(begun));
}

/// One document, also where the key is unusable.
ExitCode run_as_json(const VerifyOptions& options) {
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
    std::optional<ProofBeside> begun = begin_conversation(options);
    Judge judge = open_key(options);
    judge.render = ids_of_messages;
    document.add("key", key_json(judge));
    if (!judge.renewals.empty()) {
      Json renewals = Json::array();
      for (const RenewedKey& renewal : judge.renewals) {
        renewals.push_back({{"file", renewal.file}, {"digest", to_hex(renewal.digest)}});
      }
      document.add("renewals", renewals);
    }
    if (options.each) {
      tally = judge_each(judge, each_of(options), [&](const std::string& record) { proofs.push_back(record); });
    } else {
      const auto show = [&](std::size_t, const Judgement& judgement) {
        proofs.push_back(json_line(json_of(judge, judgement)));
        tally.add(judgement.code);
      };
      judge_conversation(judge, proofs_in(options.proofs, std::move(begun)), options.expect, show);
    }
  } catch (...) {
    const Failure failure = describe(std::current_exception());
    std::cerr << "tessera-verify: " + failure.message + "\n" << std::flush;
    document.add("error", failure.message);
    return write(failure.code);
  }
  document.add_lines("proofs", proofs);
  document.add("count", tally.json());
  return write(tally.code());
}

int parse_and_run(int argc, char** argv) {
  VerifyOptions options;
  CLI::App program;
  declare(program, options);
  program.failure_message(usage_error);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? done : unusable;
  }
  keep_standard_input(options.paths);
  return options.json ? run_as_json(options) : run_as_text(options);
}

}  // namespace
}  // namespace tessera::cli

int main(int argc, char** argv) {
  using namespace tessera::cli;
  tessera::reserve_heap(std::size_t{1} << 26U);
  occupy_standard_streams();
  ignore_write_signals();
  int code = done;
  try {
    code = parse_and_run(argc, argv);
  } catch (...) {
    const Failure failure = describe(std::current_exception());
    std::cout.flush();
    std::cerr << "tessera-verify: " + failure.message + "\n" << std::flush;
    code = failure.code;
  }
  return after_output("tessera-verify", code);
}
