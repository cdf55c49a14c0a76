#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tessera/sampling.hpp>

#include "base/text.hpp"
#include "cli/token_ids.hpp"
#include "hash/blake2s.hpp"

namespace tessera::cli {

/// What the prompts of the parts have to be, one for each of them: texts, ids or messages, or nothing.
struct ExpectedPrompts {
  std::vector<std::string> texts;          // each stands for its canonical ids under the key's tokenizer
  std::vector<std::string> ids;            // each as "1,2,3"
  std::vector<std::string> messages = {};  // JSON files
};

/// How tokens have to be drawn, and from which seed; what is empty may be anything.
struct ExpectedSampling {
  std::string parameters;           // as parse_sampling() takes it
  std::string seed;                 // 64 hexadecimal digits: the seed, or of two numbers that make it the client's
  std::string commitment, opening;  // of the other one, the prover's
};

/// What is to be verified.
struct Conversation {
  std::string key;                    // file
  std::vector<std::string> renewals;  // files, each from the key before it to the next
  std::vector<std::string> proofs;    // files of the parts, in order
  std::string expect_key;             // digest; empty: any
  ExpectedPrompts expect;
  std::optional<std::uint64_t> max_exceptions = {};  // of each proof; nothing: as many as the key allows
  ExpectedSampling sampling = {};                    // of each proof
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

/// Empty if the text says how tokens are drawn, else what is wrong.
inline std::string check_sampling_text(const std::string& text) {
  try {
    (void)parse_sampling(text);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

/// Empty if the text is token ids, else what is wrong.
inline std::string check_ids(const std::string& text) {
  try {
    (void)ids_of(text);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

}  // namespace tessera::cli
