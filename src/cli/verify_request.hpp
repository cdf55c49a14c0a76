#pragma once

#include <string>
#include <vector>

#include "base/text.hpp"
#include "hash/blake2s.hpp"

namespace tessera::cli {

/// What is to be verified.
struct Conversation {
  std::string key;                         // file
  std::vector<std::string> renewals;       // files, each from the key before it to the next
  std::vector<std::string> proofs;         // files of the parts, in order
  std::string expect_key;                  // digest; empty: any
  std::vector<std::string> expect_prompt;  // of each part, or nothing
};

/// Empty if the text is a digest as the programs print it, else what is wrong.
inline std::string check_digest(const std::string& text) {
  const bool good =
      text.size() == 2 * sizeof(Digest) && text.find_first_not_of("0123456789abcdef") == std::string::npos;
  return good ? "" : "expected 64 lower-case hexadecimal digits, found " + quoted_name(text);
}

}  // namespace tessera::cli
