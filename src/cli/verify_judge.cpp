#include "cli/verify_judge.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <numeric>

#include "archive/isolated.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/sampling_json.hpp"
#include "cli/token_ids.hpp"
#include "datasets/dataset_file.hpp"
#include "plan/chat.hpp"
#include "plan/ends.hpp"
#include "plan/plan.hpp"
#include "transcript/shown_bits.hpp"

namespace tessera::cli {
namespace {

const Tokenizer& tokenizer_of(const Judge& judge) {
  if (!judge.tokenizer) {
    judge.tokenizer = std::make_shared<const Tokenizer>(judge.key.tokenizer);
  }
  return *judge.tokenizer;
}

/// The canonical ids of a text under the key's tokenizer: any other tokens that make up the same text would give
/// another continuation. Tokens that the key puts in front of prompts stand where a conversation begins.
std::vector<std::uint32_t> ids_of_text(const Judge& judge, const std::string& text, bool begins) {
  try {
    const Tokenizer& tokenizer = tokenizer_of(judge);
    return begins ? tokenizer.encode_prompt(text) : tokenizer.encode(text);
  } catch (const InputError& error) {
    throw InputError(judge.key_file + ": tokenizer: " + error.what());
  }
}

ExpectedIds expected_ids(const Judge& judge, const ExpectedPrompt& expected, const Statement& statement) {
  const std::string& text = expected.text;
  switch (expected.kind) {
    case PromptKind::ids:
      return {ids_of(text), expected.kind, text};
    case PromptKind::messages: {
      const auto before = statement.start ? std::optional(statement.start->last_token) : std::nullopt;
      return {judge.render(tokenizer_of(judge), text, before), expected.kind, text};
    }
    case PromptKind::text:
      break;
  }
  return {ids_of_text(judge, text, !statement.start), expected.kind, text};
}

/// Throws Rejected unless the statement is what it has to be.
void check_statement(const Judge& judge, const std::optional<ExpectedPrompt>& prompt, const Statement& statement) {
  Expected expected{{}, judge.sampling};
  if (prompt) {
    expected.prompt = expected_ids(judge, *prompt, statement);
  }
  if (const auto reason = unexpected(expected, statement)) {
    throw Rejected("/statement", *reason);
  }
}

std::uint64_t clamped_count(const std::vector<ClampedValues>& clamped) {
  return std::accumulate(clamped.begin(), clamped.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const ClampedValues& values) { return sum + values.count; });
}

/// Fills in what becomes known until it throws.
void read_and_verify(const Judge& judge, const ProofSource& source, const Expectation& expected, Judgement& judgement) {
  StoredProof proof = source.load();
  const Statement& statement = judgement.statement.emplace(std::move(proof.statement));
  judgement.bytes = proof.payload.size();
  if (proof.key_digest != judge.digest) {
    judgement.made_for = proof.key_digest;
    throw Rejected("/statement", made_for_another_key);
  }
  check_statement(judge, expected.prompt, statement);
  judgement.seed_expected = statement.sampling && !judge.sampling.seed.empty();
  judgement.parameters_expected = statement.sampling && !judge.sampling.parameters.empty();
  Verdict verdict =
      tessera::judge(judge, proof.key_digest, statement, proof.payload, {expected.part > 0, expected.before});
  if (!verdict.accepted) {
    throw Rejected(verdict.scope, verdict.reason);
  }
  judgement.clamped = std::move(verdict.clamped);
  if (judge.max_exceptions && clamped_count(judgement.clamped) > *judge.max_exceptions) {
    throw Rejected("/exceptions", clamped_text(judgement.clamped) + ", more than the " +
                                      std::to_string(*judge.max_exceptions) + " of --max-exceptions");
  }
  judgement.kept = verdict.kept;
  judgement.completeness = completeness_text(judge.key.tokenizer, statement.generated);
}

Json ids_json(const Judge& judge, const Judgement& judgement, const std::vector<std::uint32_t>& ids) {
  return {{"ids", ids}, {"text", judgement.made_for ? Json() : Json(text_of(judge.key, ids))}};
}

/// The token that ends a complete text; null of one that is cut off.
Json end_json(const VerifyingKey& key, const Statement& statement) {
  if (!ended_by(key, statement)) {
    return {};
  }
  const std::uint32_t last = statement.generated.back();
  return {{"id", last}, {"text", text_of(key, {last})}};
}

Json clamped_json(const std::vector<ClampedValues>& clamped) {
  Json tensors = Json::object();
  for (const ClampedValues& values : clamped) {
    tensors[values.tensor] = values.count;
  }
  return {{"values", clamped_count(clamped)}, {"tensors", tensors}};
}

/// -log2 of the error of the worst round, and of all together, as the verifier computes them from key and shape.
Json soundness_json(const Judge& judge, const Statement& statement) {
  const SoundnessReport report = soundness_report(ModelPlan::of(judge.key, statement), judge.key);
  return {{"least", shown_bits(report.round_by_round_bits())}, {"sum", shown_bits(report.union_bits())}};
}

}  // namespace

ProofSource proof_in(const std::string& file) {
  return {file, {}, [file] { return load_proof_isolated(file); }};
}

Judgement judge(const Judge& judge, const ProofSource& source, const Expectation& expected) {
  Judgement judgement;
  judgement.file = source.file;
  judgement.entry = source.entry;
  const auto start = std::chrono::steady_clock::now();
  try {
    read_and_verify(judge, source, expected, judgement);
    judgement.code = done;
  } catch (const Rejected& error) {
    judgement.code = rejected;
    judgement.scope = error.scope();
    judgement.reason = one_line(error.what());
  } catch (...) {
    const Failure failure = describe(std::current_exception());
    judgement.code = failure.code;
    judgement.reason = failure.message;
  }
  judgement.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return judgement;
}

std::string text_of(const VerifyingKey& key, const std::vector<std::uint32_t>& ids) {
  std::string text;
  for (const std::uint32_t id : ids) {
    text += id < key.tokenizer.vocabulary.size() ? key.tokenizer.vocabulary[id] : "<unknown token>";
  }
  return text;
}

std::string clamped_text(const std::vector<ClampedValues>& clamped) {
  if (clamped.empty()) {
    return {};
  }
  const std::uint64_t count = clamped_count(clamped);
  std::string text = std::to_string(count) + (count == 1 ? " value clamped" : " values clamped");
  const char* separator = ": ";
  for (const ClampedValues& values : clamped) {
    text += separator + values.tensor + " " + std::to_string(values.count);
    separator = ", ";
  }
  return text;
}

std::string sampled_text(const Judgement& judgement) {
  if (!judgement.statement || !judgement.statement->sampling) {
    return {};
  }
  const Sampling& sampling = *judgement.statement->sampling;
  return "sampled (" + sampling_text(sampling) + "), seed " + to_hex(sampling.seed) +
         (!judgement.seed_expected        ? " chosen by the statement"
          : judgement.parameters_expected ? ", both as expected"
                                          : ", the expected one; parameters chosen by the statement");
}

const char* name_of(ExitCode code) {
  switch (code) {
    case done:
      return "accepted";
    case rejected:
      return "rejected";
    case unusable:
      return "unusable";
    case failed:
      break;
  }
  return "failed";
}

std::string line_of(const Judgement& judgement) {
  std::string line = name_of(judgement.code);
  std::ranges::transform(line, line.begin(), [](char c) { return static_cast<char>(c - 'a' + 'A'); });
  const std::string file = one_line(judgement.name());
  line.resize(sizeof "ACCEPTED", ' ');
  if (judgement.statement || !judgement.reason.starts_with(file + ": ")) {  // what is wrong with a file names it
    line += file;
    if (const auto& statement = judgement.statement) {
      line += ", " + std::to_string(statement->prompt.size()) + " + " + std::to_string(statement->generated.size()) +
              " tokens";
    }
    line += judgement.code == done ? ", " + judgement.completeness : "";
    if (const std::string sampled = sampled_text(judgement); judgement.code == done && !sampled.empty()) {
      line += ", " + sampled;
    }
    if (judgement.code == done && !judgement.clamped.empty()) {
      line += ", " + clamped_text(judgement.clamped);
    }
    line += judgement.code == done ? "" : judgement.scope.empty() ? ": " : ", at " + judgement.scope + ": ";
  }
  return line + judgement.reason;
}

Json key_json(const Judge& judge) {
  const TokenizerData& tokenizer = judge.key.tokenizer;
  const ChatTemplate& chat = tokenizer.chat;
  Json result;
  result["file"] = judge.given_file;
  result["digest"] = to_hex(judge.given);
  if (chat.text.empty()) {
    for (const char* const name : {"chat_template", "chat_template_digest", "chat_tokens", "special_tokens"}) {
      result[name] = nullptr;
    }
    return result;
  }
  result["chat_template"] = chat.text;
  result["chat_template_digest"] = to_hex(digest_of(chat));
  Json tokens = Json::object(), special = Json::object();  // texts by name, by id
  for (std::size_t i = 0; i < chat.tokens.size(); ++i) {
    if (!chat.tokens[i].empty()) {
      tokens[std::string(chat_token_names[i])] = chat.tokens[i];
    }
  }
  for (const std::uint32_t id : chat.special) {
    special[std::to_string(id)] = text_of(judge.key, {id});
  }
  result["chat_tokens"] = std::move(tokens);
  result["special_tokens"] = std::move(special);
  return result;
}

Json json_of(const Judge& judge, const Judgement& judgement) {
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  Json result{{"file", judgement.file},
              {"entry", text_or_null(judgement.entry)},
              {"verdict", name_of(judgement.code)},
              {"scope", text_or_null(judgement.scope)},
              {"reason", text_or_null(judgement.reason)}};
  const auto& statement = judgement.statement;
  result["made_for"] = judgement.made_for ? Json(to_hex(*judgement.made_for)) : Json();
  result["prompt"] = statement ? ids_json(judge, judgement, statement->prompt) : Json();
  result["generated"] = statement ? ids_json(judge, judgement, statement->generated) : Json();
  result["complete"] = judgement.code == done ? Json(ended_by(judge.key, *statement).has_value()) : Json();
  result["ended_by"] = judgement.code == done ? end_json(judge.key, *statement) : Json();
  result["soundness"] = judgement.code == done ? soundness_json(judge, *statement) : Json();
  result["clamped"] = judgement.code == done ? clamped_json(judgement.clamped) : Json();
  result["sampling"] = statement ? sampling_json(statement->sampling) : Json();
  if (judgement.code == done && statement->sampling) {
    result["sampling"]["seed_expected"] = judgement.seed_expected;
    result["sampling"]["parameters_expected"] = judgement.parameters_expected;
  }
  result["bytes"] = statement ? Json(judgement.bytes) : Json();
  result["seconds"] = judgement.seconds;
  return result;
}

}  // namespace tessera::cli
