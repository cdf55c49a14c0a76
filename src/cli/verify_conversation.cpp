#include "cli/verify_conversation.hpp"

#include <tuple>

#include "archive/isolated.hpp"
#include "archive/renewal_file.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "datasets/dataset_file.hpp"
#include "protocol/renewal.hpp"

namespace tessera::cli {

namespace {

/// Goes on from the judge's key to the one that the file renews it by.
void renew(Judge& judge, const std::string& file) {
  Renewal renewal = load_renewal_isolated(file);
  const Verdict verdict = verify_renewal(judge, renewal.old_key, renewal.key, renewal.payload);
  if (!verdict.accepted) {
    throw Rejected(verdict.scope, "renewal " + one_line(file) + ": " + verdict.reason);
  }
  static_cast<IdentifiedKey&>(judge) = std::move(renewal.key);
  judge.tokenizer = nullptr;
  judge.key_file = file;
  judge.renewals.push_back({file, judge.digest});
}

}  // namespace

Judge open_key(const Conversation& options) {
  Judge judge{load_key_isolated(options.key), options.key};
  judge.given_file = options.key;
  judge.given = judge.digest;
  judge.max_exceptions = options.max_exceptions;
  judge.sampling = options.sampling;
  if (!options.expect_key.empty() && options.expect_key != to_hex(judge.digest)) {
    throw InputError(options.key + ": key digest: expected " + options.expect_key + ", found " + to_hex(judge.digest));
  }
  for (const std::string& file : options.renewals) {
    renew(judge, file);
  }
  return judge;
}

std::vector<std::optional<ExpectedPrompt>> each_of(const ExpectedPrompts& expect, std::size_t parts) {
  using Kind = ExpectedPrompt::Kind;
  const std::tuple<const char*, Kind, const std::vector<std::string>&> kinds[] = {
      {"--expect-prompt", Kind::text, expect.texts},
      {"--expect-ids", Kind::ids, expect.ids},
      {"--expect-messages", Kind::messages, expect.messages}};
  std::vector<std::optional<ExpectedPrompt>> prompts(parts);
  const char* before = nullptr;
  for (const auto& [option, kind, given] : kinds) {
    if (given.empty()) {
      continue;
    }
    if (before != nullptr) {
      throw InputError(std::string(before) + ", " + option + ": expected one of them, found both");
    }
    before = option;
    if (given.size() != parts) {
      throw InputError(std::string(option) + ": expected one for each of the " + std::to_string(parts) +
                       " proofs, or none, found " + std::to_string(given.size()));
    }
    for (std::size_t part = 0; part < parts; ++part) {
      prompts[part] = ExpectedPrompt{given[part], kind};
    }
  }
  return prompts;
}

ExitCode judge_conversation(const Judge& judge, const std::vector<ProofSource>& parts, const ExpectedPrompts& expect,
                            const std::function<void(std::size_t, const Judgement&)>& show) {
  const std::vector<std::optional<ExpectedPrompt>> prompts = each_of(expect, parts.size());
  Expectation expected;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    expected.part = part;
    expected.prompt = prompts[part];
    const Judgement judgement = cli::judge(judge, parts[part], expected);
    show(part, judgement);
    if (judgement.code != done) {
      return judgement.code;
    }
    expected.before = judgement.kept;
  }
  return done;
}

}  // namespace tessera::cli
