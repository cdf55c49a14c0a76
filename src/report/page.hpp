#pragma once

#include <optional>
#include <string>
#include <vector>

#include "archive/proof_file.hpp"
#include "report/verification.hpp"

namespace tessera::report {

/// A proof file as it was read. Everything in it is a stranger's.
struct Part {
  std::string file;  // name as given
  std::uint64_t file_bytes = 0;
  std::string file_digest;  // in hexadecimal digits
  ProofArchive archive;
  std::optional<Verification> verification;  // where there is a key
};

/// The parts of one conversation, in order; a single proof is one of one part.
using Conversation = std::vector<Part>;

/// A file that renews a key, and the new key's digest.
struct RenewedBy {
  std::string file;
  Digest digest{};
};

/// How the report's key came to be trusted.
struct KeyOrigin {
  bool compared = false;                 // somebody has expected the digest of the key that was given
  Digest given{};                        // of that key, where there are
  std::vector<RenewedBy> renewals = {};  // that lead from it to the report's key
};

/// A file that cannot be read as a proof.
struct UnusableFile {
  std::string file, problem;
  std::size_t place = 0;  // the number of proofs before it
};

/// What a report tells.
struct Report {
  std::string program;              // that makes it, with its version
  std::optional<VerifyingKey> key;  // what proofs were verified with
  std::vector<Conversation> conversations;
  KeyOrigin origin = {};
  std::vector<UnusableFile> unusable = {};
};

/// A proof that continues one belongs to the conversation of the proof before it, any other begins one.
std::vector<Conversation> conversations_of(std::vector<Part> parts);

/// The parts of all conversations, in order.
std::vector<const Part*> all_parts(const Report& report);

/// Verifies all parts with the report's key, those of a conversation in order: one after a part that is not accepted
/// is not, either.
void verify_all(Report& report);

/// One HTML document that needs nothing else: style and figures (SVG) are in it, scripts are not. Strangers' text is
/// escaped and clipped, lists are bounded: at most some MiB a proof, whatever the files hold.
std::string page(const Report& report);

}  // namespace tessera::report
