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
#include "cli/verify_seed.hpp"
#include "datasets/dataset_file.hpp"
#include "plan/ends.hpp"
#include "plan/plan.hpp"
#include "transcript/shown_bits.hpp"

namespace tessera::cli {
namespace {

/// Where the ids of what is expected, which `name` says, and those of a prompt part.
std::string difference(const std::string& name, const std::vector<std::uint32_t>& expected,
                       const std::vector<std::uint32_t>& prompt) {
  const auto [a, b] = std::mismatch(expected.begin(), expected.end(), prompt.begin(), prompt.end());
  const auto id = [](const auto& ids, const auto& place) {
    return place == ids.end() ? "none" : std::to_string(*place);
  };
  return "the prompt is not the expected one: its ids differ from those of " + name + " (" +
         counted(expected.size(), "token") + ") at token " + std::to_string(a - expected.begin() + 1) + ": expected " +
         id(expected, a) + ", found " + id(prompt, b);
}

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

void check_prompt(const Judge& judge, const ExpectedPrompt& expected, const Statement& statement) {
  const std::string& text = expected.text;
  using Kind = ExpectedPrompt::Kind;
  const auto before = statement.start ? std::optional(statement.start->last_token) : std::nullopt;
  const std::vector<std::uint32_t> ids = expected.kind == Kind::ids ? ids_of(text)
                                         : expected.kind == Kind::messages
                                             ? judge.render(tokenizer_of(judge), text, before)
                                             : ids_of_text(judge, text, !statement.start);
  if (ids != statement.prompt) {
    const char* const kinds[] = {"the text ", "the ids ", "the messages of "};
    const std::string name = kinds[static_cast<std::size_t>(expected.kind)] + quoted_name(text);
    const bool meant = expected.kind == Kind::text && looks_like_ids(text);  // perhaps
    throw Rejected("/statement", difference(name, ids, statement.prompt) +
                                     (meant ? "; it was taken for a text: ids have an option of their own" : ""));
  }
}

std::string parameters_text(const std::optional<Sampling>& sampling) {
  return sampling ? sampling_text(*sampling) : "the arg-max (temperature=0)";
}

/// Throws Rejected unless tokens are drawn as they have to be.
void check_sampling(const ExpectedSampling& expected, const std::optional<Sampling>& found) {
  if (!expected.parameters.empty()) {
    std::optional<Sampling> wanted = parse_sampling(expected.parameters);
    if (wanted && found) {
      wanted->seed = found->seed;
    }
    if (wanted != found) {
      throw Rejected("/statement", "tokens are not drawn as expected: expected " + parameters_text(wanted) +
                                       ", found " + parameters_text(found));
    }
  }
  if (expected.seed.empty()) {
    return;
  }
  Digest seed = digest_in(expected.seed);
  if (!expected.commitment.empty()) {
    const Digest opening = digest_in(expected.opening);
    if (blake2s(opening) != digest_in(expected.commitment)) {
      throw Rejected("/statement", "--seed-opening is not what --seed-commitment is to");
    }
    seed = joint_seed(opening, seed);
  }
  if (!found || found->seed != seed) {
    throw Rejected("/statement", "the seed is not the expected one: expected " + to_hex(seed) + ", found " +
                                     (found ? to_hex(found->seed) : "none: tokens are the arg-max"));
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
    throw Rejected("/statement", "the proof was made for another verifying key");
  }
  if (expected.prompt) {
    check_prompt(judge, *expected.prompt, statement);
  }
  check_sampling(judge.sampling, statement.sampling);
  judgement.seed_expected = statement.sampling && !judge.sampling.seed.empty();
  judgement.parameters_expected = statement.sampling && !judge.sampling.parameters.empty();
  Verdict verdict = expected.part == 0 ? verify_beginning(judge, statement, proof.payload)
                                       : verify_continuation(judge, statement, proof.payload, expected.before);
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
