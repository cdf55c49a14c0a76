#include <algorithm>
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

/// As tessera-verify prints it.
Json printed(const VerifyingKey& key, const Statement& statement) {
  return {{"prompt", printable(cli::text_of(key, statement.prompt))},
          {"generated", printable(cli::text_of(key, statement.generated))}};
}

/// {"key", "proofs", "expect_key", "expect_prompt"} to the document of tessera-verify --json, with the printed texts
/// of every statement and the place that a continuation starts from.
Json verify(const std::string& request) {
  Json answer;
  cli::ExitCode code = cli::failed;
  try {
    const Json wanted = Json::parse(request);
    cli::Conversation options{wanted.at("key"), wanted.value("renewals", std::vector<std::string>{}),
                              wanted.at("proofs"), wanted.at("expect_key"), wanted.at("expect_prompt")};
    if (const std::string wrong = options.expect_key.empty() ? "" : cli::check_digest(options.expect_key);
        !wrong.empty()) {
      throw InputError("expected key digest: " + wrong);
    }
    const cli::Judge judge = cli::open_key(options);
    answer["key"] = {{"file", options.key}, {"digest", to_hex(judge.digest)}};
    answer["proofs"] = Json::array();
    std::vector<cli::ProofSource> parts;
    std::ranges::transform(options.proofs, std::back_inserter(parts), cli::proof_in);
    code =
        cli::judge_conversation(judge, parts, options.expect_prompt, [&](std::size_t, const cli::Judgement& judgement) {
          Json record = cli::json_of(judge, judgement);
          record["printed"] = judgement.statement ? printed(judge.key, *judgement.statement) : Json();
          record["continues"] = judgement.statement && judgement.statement->start;
          answer["proofs"].push_back(std::move(record));
        });
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
