#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/text.hpp"
#include "archive/renewal_file.hpp"
#include "base/errors.hpp"
#include "cli/verify_conversation.hpp"
#include "datasets/dataset_file.hpp"
#include "plan/chat.hpp"
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
  const std::vector<std::uint32_t>& generated = judgement.statement->generated;
  return {{"prompt", printable(cli::text_of(key, judgement.statement->prompt))},
          {"generated", printable(cli::text_of(key, generated))},
          {"last", printable(cli::text_of(key, {generated.end() - (generated.empty() ? 0 : 1), generated.end()}))}};
}

/// What the key says of chats, to be shown; null without a template.
Json printed_chat(const TokenizerData& tokenizer) {
  const ChatTemplate& chat = tokenizer.chat;
  if (chat.text.empty()) {
    return {};
  }
  const std::string_view beginning = first_lines(chat.text);
  Json shown;
  shown["bytes"] = chat.text.size();
  shown["digest"] = to_hex(digest_of(chat));
  shown["beginning"] = printable(beginning);
  shown["whole"] = beginning.size() == chat.text.size();
  shown["tokens"] = printable(named_tokens_text(chat));
  shown["special"] = printable(special_tokens_text(tokenizer));
  return shown;
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

/// Renewals, each after the one that makes the key which it renews, whatever order they have been chosen in. Those that
/// cannot be read are unusable wherever they stand.
std::vector<std::string> chained(const std::vector<std::string>& files) {
  struct Link {
    std::string file;
    Digest from{}, to{};
  };
  std::vector<Link> links;
  for (const std::string& file : files) {
    try {
      const Renewal renewal = load_renewal_isolated(file);
      links.push_back({file, renewal.old_key, renewal.key.digest});
    } catch (const InputError&) {
      links.push_back({file});
    }
  }
  std::vector<std::string> chain;
  while (!links.empty()) {
    const auto is_first = [&](const Link& link) {
      return std::ranges::find(links, link.from, &Link::to) == links.end();
    };
    auto first = std::ranges::find_if(links, is_first);
    first = first == links.end() ? links.begin() : first;  // a circle, which no key leads into
    chain.push_back(first->file);
    links.erase(first);
  }
  return chain;
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

/// How tokens have to be drawn: {"parameters", "seed", "commitment", "opening"}, each a text, empty for any.
ExpectedSampling sampling_in(const Json& wanted) {
  ExpectedSampling expected{wanted.at("parameters"), wanted.at("seed"), wanted.at("commitment"), wanted.at("opening")};
  check_expected(expected);
  return expected;
}

/// {"key", "renewals", "proofs", "expect_key", "expect_prompt", "expect_ids", "sampling"} to the document of
/// tessera-verify --json (with --each, if the proofs are independent), with the printed texts of every statement.
Json verify(const std::string& request) {
  Json answer;
  cli::ExitCode code = cli::failed;
  try {
    const Json wanted = Json::parse(request);
    cli::Conversation options{wanted.at("key"),
                              chained(wanted.at("renewals")),
                              wanted.at("proofs"),
                              wanted.at("expect_key"),
                              {wanted.at("expect_prompt"), wanted.at("expect_ids")}};
    options.sampling = sampling_in(wanted.at("sampling"));
    if (const std::string wrong = options.expect_key.empty() ? "" : check_digest(options.expect_key); !wrong.empty()) {
      throw InputError("expected key digest: " + wrong);
    }
    for (const std::string& ids : options.expect.ids) {
      if (const std::string wrong = cli::check_ids(ids); !wrong.empty()) {
        throw InputError("expected ids: " + wrong);
      }
    }
    if (options.proofs.empty() && options.renewals.empty()) {
      throw InputError("proofs: expected one or more, or renewals of the key, found none");
    }
    const cli::Judge judge = cli::open_key(options);
    answer["key"] = cli::key_json(judge);
    answer["chat"] = printed_chat(judge.key.tokenizer);
    answer["renewals"] = Json::array();
    for (const cli::RenewedKey& renewal : judge.renewals) {
      answer["renewals"].push_back({{"file", renewal.file}, {"digest", to_hex(renewal.digest)}});
    }
    answer["proofs"] = Json::array();
    std::vector<cli::ProofSource> parts;
    std::ranges::transform(options.proofs, std::back_inserter(parts), cli::proof_in);
    const auto show = [&](std::size_t, const cli::Judgement& judgement) {
      Json record = cli::json_of(judge, judgement);
      record["printed"] = printed(judge.key, judgement);
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
