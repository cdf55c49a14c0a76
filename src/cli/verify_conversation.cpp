#include "cli/verify_conversation.hpp"

#include "archive/isolated.hpp"
#include "base/errors.hpp"

namespace tessera::cli {

Judge open_key(const Conversation& options) {
  Judge judge{options.key, load_key_isolated(options.key), {}};
  judge.digest = judge.key.digest();
  if (!options.expect_key.empty() && options.expect_key != to_hex(judge.digest)) {
    throw InputError(options.key + ": key digest: expected " + options.expect_key + ", found " + to_hex(judge.digest));
  }
  return judge;
}

ExitCode judge_conversation(const Judge& judge, const std::vector<ProofSource>& parts,
                            const std::vector<std::string>& expect_prompt,
                            const std::function<void(std::size_t, const Judgement&)>& show) {
  if (!expect_prompt.empty() && expect_prompt.size() != parts.size()) {
    throw InputError("--expect-prompt: expected one for each of the " + std::to_string(parts.size()) +
                     " proofs, or none, found " + std::to_string(expect_prompt.size()));
  }
  Expectation expected;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    expected.part = part;
    if (!expect_prompt.empty()) {
      expected.prompt = expect_prompt[part];
    }
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
