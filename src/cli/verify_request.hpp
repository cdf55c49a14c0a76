#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "hash/blake2s.hpp"

namespace tessera::cli {

/// What is to be verified.
struct Conversation {
  std::string key;                                   // file
  std::vector<std::string> renewals;                 // files, each from the key before it to the next
  std::vector<std::string> proofs;                   // files of the parts, in order
  std::string expect_key;                            // digest; empty: any
  std::vector<std::string> expect_prompt;            // of each part, or nothing
  std::optional<std::uint64_t> max_exceptions = {};  // of each proof; nothing: as many as the key allows
};

/// Makes a digest what the programs print, in lower-case digits. Empty if it is one, else what is wrong.
inline std::string check_digest(std::string& text) {
  constexpr std::string_view digits = "0123456789abcdefABCDEF";
  if (text.size() != 2 * sizeof(Digest) || text.find_first_not_of(digits) != std::string::npos) {
    return "expected 64 hexadecimal digits, found " + quoted_name(text);
  }
  for (char& digit : text) {
    digit = digit >= 'A' && digit <= 'F' ? static_cast<char>(digit - 'A' + 'a') : digit;
  }
  return "";
}

}  // namespace tessera::cli
