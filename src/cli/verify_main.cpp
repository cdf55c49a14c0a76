#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include "archive/hdf5.hpp"
#include "archive/isolated.hpp"
#include "base/errors.hpp"

#include "base/text.hpp"
#include "cli/exit_code.hpp"
#include "protocol/protocol.hpp"
#include "tokenizer/tokenizer.hpp"

namespace tessera::cli {
namespace {

struct Options {
  std::string key;
  std::vector<std::string> proofs;  // parts of one conversation, in order
  std::string expect_key;
  std::vector<std::string> expect_prompt;  // of the first parts, one each
};

/// "1,2,3" as ids; nothing if it is any other text.
std::optional<std::vector<std::uint32_t>> parse_ids(const std::string& text) {
  std::vector<std::uint32_t> ids;
  std::uint64_t id = 0;
  bool digits = false;
  for (const char c : text + ",") {
    if (c >= '0' && c <= '9') {
      id = std::min<std::uint64_t>(10 * id + static_cast<std::uint64_t>(c - '0'), UINT32_MAX);
      digits = true;
    } else if (c == ',' && digits) {
      ids.push_back(static_cast<std::uint32_t>(id));
      id = 0;
      digits = false;
    } else {
      return std::nullopt;
    }
  }
  return ids;
}

/// Empty if the text is a digest as this program prints it, else what is wrong.
std::string check_digest(const std::string& text) {
  const bool good =
      text.size() == 2 * sizeof(Digest) && text.find_first_not_of("0123456789abcdef") == std::string::npos;
  return good ? "" : "expected 64 lower-case hexadecimal digits, found " + quoted_name(text);
}

/// Ids and text. The text comes from the key's vocabulary, never from the proof file.
void print_ids(const char* what, const VerifyingKey& key, const std::vector<std::uint32_t>& ids) {
  std::string text;
  std::cout << what << " (" << ids.size() << " tokens):";
  for (const std::uint32_t id : ids) {
    std::cout << ' ' << id;
    text += id < key.tokenizer.vocabulary.size() ? key.tokenizer.vocabulary[id] : "<unknown token>";
  }
  std::cout << "\n\"" << printable(text) << "\"\n";
}

/// Ids, or a text whose canonical ids under the key's tokenizer are expected: those of any other tokens that make up
/// the same text would give another continuation. Tokens that the key puts in front of prompts stand where a
/// conversation begins.
void check_prompt(const Options& options, const VerifyingKey& key, const std::string& text,
                  const Statement& statement) {
  std::optional<std::vector<std::uint32_t>> expected = parse_ids(text);
  if (!expected) {
    try {
      const Tokenizer tokenizer(key.tokenizer);
      expected = statement.start ? tokenizer.encode(text) : tokenizer.encode_prompt(text);
    } catch (const InputError& error) {
      throw InputError(options.key + ": tokenizer: " + error.what());
    }
  }
  if (*expected != statement.prompt) {
    throw Rejected("/statement", "the prompt is not the expected one: its ids differ");
  }
}

/// One part, after where the parts before it have left: the verdict says where it leaves.
Verdict check_part(const Options& options, std::size_t part, const VerifyingKey& key, const Digest& digest,
                   const std::optional<ConversationState>& before) {
  const StoredProof proof = load_proof_isolated(options.proofs[part]);
  print_ids("prompt", key, proof.statement.prompt);
  print_ids("generated", key, proof.statement.generated);
  if (!options.expect_prompt.empty()) {
    check_prompt(options, key, options.expect_prompt[part], proof.statement);
  }
  if (proof.key_digest != digest) {
    throw Rejected("/statement", "the proof was made for another verifying key");
  }
  if (part > 0 && !before) {
    throw Rejected("/statement", "the part before it keeps no state to continue");
  }
  Verdict verdict = verify_part(key, proof.statement, proof.payload, before);
  if (!verdict.accepted) {
    throw Rejected(verdict.scope, verdict.reason);
  }
  return verdict;
}

void run(const Options& options) {
  const VerifyingKey key = load_key_isolated(options.key);
  const Digest digest = key.digest();
  if (!options.expect_key.empty() && options.expect_key != to_hex(digest)) {
    throw InputError(options.key + ": key digest: expected " + options.expect_key + ", found " + to_hex(digest));
  }
  if (!options.expect_prompt.empty() && options.expect_prompt.size() != options.proofs.size()) {
    throw InputError("--expect-prompt: expected one for each of the " + std::to_string(options.proofs.size()) +
                     " proofs, or none, found " + std::to_string(options.expect_prompt.size()));
  }
  std::cout << "key digest " << to_hex(digest) << '\n';
  std::optional<ConversationState> state;
  for (std::size_t part = 0; part < options.proofs.size(); ++part) {
    try {
      state = check_part(options, part, key, digest, state).kept;
    } catch (const Rejected& rejected) {
      if (options.proofs.size() == 1) {
        throw;
      }
      throw Rejected(rejected.scope(), "part " + std::to_string(part + 1) + ", " + one_line(options.proofs[part]) +
                                           ": " + rejected.what());
    }
  }
  std::cout << "ACCEPTED\n";
}

int parse_and_run(int argc, char** argv) {
  Options options;
  CLI::App program("Check a proof that a committed model generated a text.", "tessera-verify");
  program.add_option("--key", options.key, "verifying key of the model")->required();
  program.add_option("proof", options.proofs, "proof file, or those of a conversation's parts in order")->required();
  program.add_option("--expect-key", options.expect_key, "refuse a key of another digest")->check(check_digest);
  program
      .add_option("--expect-prompt", options.expect_prompt,
                  "reject unless the prompt is what this text becomes under the key's tokenizer, or these token ids "
                  "(digits and commas only); given once for each part")
      ->allow_extra_args(false);
  program.footer("Exit codes: 0 accepted, 1 rejected, 2 wrong usage or unusable file, 3 failure.");
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? done : unusable;
  }
  run(options);
  return done;
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
    (failure.code == rejected ? std::cout : std::cerr << "tessera-verify: ") << failure.message << std::endl;
    return failure.code;
  }
}
