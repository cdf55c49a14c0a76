#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/text.hpp"
#include "base/errors.hpp"
#include "cli/verify_conversation.hpp"
#include "datasets/dataset_file.hpp"
#include "web/files.hpp"

/// \file
/// What the page calls. Texts are UTF-8; a request and its answer are JSON.

namespace tessera::web {
namespace {

using cli::Json;

/// As tessera-verify prints it; ids of another key's proof have no text.
Json printed(const VerifyingKey& key, const cli::Judgement& judgement) {
  if (!judgement.statement || judgement.made_for) {
    return {};
  }
  return {{"prompt", printable(cli::text_of(key, judgement.statement->prompt))},
          {"generated", printable(cli::text_of(key, judgement.statement->generated))}};
}

/// Several proofs of which none goes on where another ends: those that cannot be read are none of a conversation
/// either.
bool independent(const std::vector<cli::ProofSource>& proofs) {
  return proofs.size() > 1 && !std::ranges::any_of(proofs, [](const cli::ProofSource& proof) {
           try {
             return proof.load().statement.start.has_value();
           } catch (const std::exception&) {
             return false;
           }
         });
}

/// Each alone, whatever becomes of the others.
cli::ExitCode judge_each(const cli::Judge& judge, const std::vector<cli::ProofSource>& proofs,
                         const cli::ExpectedPrompts& expect, const auto& show) {
  const auto prompts = cli::each_of(expect, proofs.size());
  constexpr std::array order{cli::done, cli::unusable, cli::failed, cli::rejected};  // the worst is that of all
  auto worst = order.begin();
  for (std::size_t i = 0; i < proofs.size(); ++i) {
    const cli::Judgement judgement = cli::judge(judge, proofs[i], {.prompt = prompts[i]});
    worst = std::max(worst, std::ranges::find(order, judgement.code));
    show(i, judgement);
  }
  return *worst;
}

/// {"key", "proofs", "expect_key", "expect_prompt", "expect_ids"} to the document of tessera-verify --json (with
/// --each, if the proofs are independent), with the printed texts of every statement and the place that a continuation
/// starts from.
Json verify(const std::string& request) {
  Json answer;
  cli::ExitCode code = cli::failed;
  try {
    const Json wanted = Json::parse(request);
    cli::Conversation options{wanted.at("key"),
                              wanted.value("renewals", std::vector<std::string>{}),
                              wanted.at("proofs"),
                              wanted.at("expect_key"),
                              {wanted.at("expect_prompt"), wanted.at("expect_ids")}};
    if (const std::string wrong = options.expect_key.empty() ? "" : cli::check_digest(options.expect_key);
        !wrong.empty()) {
      throw InputError("expected key digest: " + wrong);
    }
    for (const std::string& ids : options.expect.ids) {
      if (const std::string wrong = cli::check_ids(ids); !wrong.empty()) {
        throw InputError("expected ids: " + wrong);
      }
    }
    const cli::Judge judge = cli::open_key(options);
    answer["key"] = {{"file", options.key}, {"digest", to_hex(judge.digest)}};
    answer["proofs"] = Json::array();
    std::vector<cli::ProofSource> parts;
    std::ranges::transform(options.proofs, std::back_inserter(parts), cli::proof_in);
    const auto show = [&](std::size_t, const cli::Judgement& judgement) {
      Json record = cli::json_of(judge, judgement);
      record["printed"] = printed(judge.key, judgement);
      record["continues"] = judgement.statement && judgement.statement->start;
      answer["proofs"].push_back(std::move(record));
    };
    const bool each = independent(parts);
    answer["mode"] = each ? "each" : "conversation";
    code = each ? judge_each(judge, parts, options.expect, show)
                : cli::judge_conversation(judge, parts, options.expect, show);
  } catch (...) {
    const cli::Failure failure = cli::describe(std::current_exception());
    answer["error"] = failure.message;
    code = failure.code;
  }
  answer["verdict"] = cli::name_of(code);
  return answer;
}

}  // namespace
}  // namespace tessera::web

extern "C" {

void* tessera_allocate(std::size_t size) { return std::malloc(size); }
void tessera_release(void* bytes) { std::free(bytes); }

void tessera_add_file(const char* name, std::size_t name_size, const std::uint8_t* bytes, std::size_t size) {
  tessera::web::add_file({name, name_size}, {bytes, bytes + size});
}

void tessera_clear() { tessera::web::clear_files(); }

/// The answer, which ends with a 0 and stays until the next call.
const char* tessera_verify(const char* request, std::size_t size) {
  static std::string answer;
  answer = tessera::cli::json_line(tessera::web::verify({request, size}));
  return answer.c_str();
}
}
