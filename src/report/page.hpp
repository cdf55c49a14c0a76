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

/// What a report tells.
struct Report {
  std::string program;              // that makes it, with its version
  std::optional<VerifyingKey> key;  // what proofs were verified with
  std::vector<Conversation> conversations;
};

/// A proof that continues one belongs to the conversation of the proof before it, any other begins one.
std::vector<Conversation> conversations_of(std::vector<Part> parts);

/// Of all conversations, in order.
std::vector<const Part*> all_parts(const Report& report);

/// Verifies all parts with the report's key, those of a conversation in order: one after a part that is not accepted
/// is not, either.
void verify_all(Report& report);

/// One HTML document that needs nothing else: style and figures (SVG) are in it, scripts are not. Strangers' text is
/// escaped and clipped, lists are bounded: at most some MiB a proof, whatever the files hold.
std::string page(const Report& report);

}  // namespace tessera::report
