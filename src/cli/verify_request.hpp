#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tessera/expected.hpp>
#include <tessera/sampling.hpp>

#include "cli/token_ids.hpp"
#include "hash/hex.hpp"

namespace tessera::cli {

/// What the prompts of the parts have to be, one for each of them: texts, ids or messages, or nothing.
struct ExpectedPrompts {
  std::vector<std::string> texts;          // each stands for its canonical ids under the key's tokenizer
  std::vector<std::string> ids;            // each as "1,2,3"
  std::vector<std::string> messages = {};  // JSON files
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
