#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/exit_code.hpp"
#include "cli/json_output.hpp"
#include "cli/verify_request.hpp"
#include "protocol/identified_key.hpp"
#include "protocol/protocol.hpp"
#include "tokenizer/tokenizer.hpp"

#include <tessera/archive.hpp>

namespace tessera::cli {

/// A file that renews a key, and the new key's digest.
struct RenewedKey {
  std::string file;
  Digest digest;
};

/// The key that proofs are verified with, read once.
struct Judge : IdentifiedKey {
  std::string key_file;
  mutable std::shared_ptr<const Tokenizer> tokenizer = {};  // the key's, made when a text is first to be split
  std::string given_file = {};                              // of the key that was trusted to begin with
  Digest given{};                                           // its digest
  std::vector<RenewedKey> renewals = {};                    // that lead from it to this one
  std::optional<std::uint64_t> max_exceptions = {};         // of a proof
  ExpectedSampling sampling = {};                           // of a proof
  /// ids_of_messages() of a file, behind an answer that ended with a token or from the beginning, where there is Python
  std::function<std::vector<std::uint32_t>(const Tokenizer&, const std::string&, std::optional<std::uint32_t>)> render =
      {};
};

/// Where a proof is.
struct ProofSource {
  std::string file;
  std::string entry;                  // of an archive of many proofs: the proof's name; empty: the file is the proof
  std::function<StoredProof()> load;  // reads a stranger's file
  [[nodiscard]] std::string name() const { return entry.empty() ? file : file + ": " + entry; }
};

/// A file that is one proof, read in a confined child process.
ProofSource proof_in(const std::string& file);

/// What one proof comes to.
struct Judgement {
  std::string file;
  std::string entry;                   // as of ProofSource
  ExitCode code = failed;              // done: accepted
  std::string scope;                   // where it is rejected
  std::string reason;                  // why it is not accepted: one line
  std::optional<Statement> statement;  // of a file that could be read
  std::optional<Digest> made_for;      // of the key that it names, if that is another one: then its ids have no text
  std::size_t bytes = 0;               // of its payload
  double seconds = 0;                  // to read and to verify it
  std::optional<ConversationState> kept;
  std::vector<ClampedValues> clamped;  // of a true proof
  std::string completeness = {};       // of a true proof: completeness_text()
  bool seed_expected = false;          // the statement's seed is what it has to be
  bool parameters_expected = false;    // and so are its sampling parameters
  [[nodiscard]] std::string name() const { return entry.empty() ? file : file + ": " + entry; }
};

/// What a prompt has to be: a text, which stands for its canonical ids under the key's tokenizer, or ids as "1,2,3", or
/// the file of messages that the key's chat template makes it of.
struct ExpectedPrompt {
  using Kind = PromptKind;
  std::string text;
  Kind kind = Kind::text;
};

/// What has to be true of a proof beyond the proof itself.
struct Expectation {
  std::size_t part = 0;                          // of a conversation
  std::optional<ConversationState> before = {};  // where the part before it has ended
  std::optional<ExpectedPrompt> prompt = {};
};

/// Reads a proof and verifies it. Throws for nothing that is in the file.
Judgement judge(const Judge& judge, const ProofSource& source, const Expectation& expected);

/// The bytes of the ids, from the key's vocabulary, never from the proof file.
std::string text_of(const VerifyingKey& key, const std::vector<std::uint32_t>& ids);

/// "5 values clamped: q 3, x_mid 2"; empty if none were.
std::string clamped_text(const std::vector<ClampedValues>& clamped);

/// "sampled (temperature=0.7,top_k=40), seed chosen by the statement"; empty where tokens are the arg-max.
std::string sampled_text(const Judgement& judgement);

/// accepted, rejected, unusable, failed.
const char* name_of(ExitCode code);

/// "ACCEPTED <file>, 22 + 32 tokens, cut off at 32 tokens", and why where it is not.
std::string line_of(const Judgement& judgement);

/// What was given to be verified with, and what the key behind all renewals says of chats: null without a template.
Json key_json(const Judge& judge);

/// All that is known of a judgement as JSON, for programs. What is not known is null.
Json json_of(const Judge& judge, const Judgement& judgement);

}  // namespace tessera::cli
