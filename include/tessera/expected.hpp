#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tessera/statement.hpp>

namespace tessera {

/// What the ids of an expected prompt come from: a text under the key's tokenizer, messages under its chat template, or
/// nothing but themselves.
enum class PromptKind : std::uint8_t { text, ids, messages };

/// The ids that a prompt has to be.
struct ExpectedIds {
  std::vector<std::uint32_t> ids;
  PromptKind kind = PromptKind::ids;
  std::string source;  // the text, "1,2,3", or the messages' file if they have one: what a reason calls them
};

/// How tokens have to be drawn, and from which seed; what is empty may be anything.
struct ExpectedSampling {
  std::string parameters;           // as parse_sampling() takes it: "temperature=0" is the arg-max
  std::string seed;                 // 64 hexadecimal digits: the seed, or of two numbers that make it the client's
  std::string commitment, opening;  // of the other one, the prover's: its BLAKE2s-256, published first, and itself
};

/// What has to be true of a statement, beyond its proof.
struct Expected {
  std::optional<ExpectedIds> prompt = {};
  ExpectedSampling sampling = {};
};

/// Makes digits lower-case. Throws InputError naming the field unless parameters are some, numbers have 64 hexadecimal
/// digits, a commitment stands beside a seed, and an opening beside a commitment and only there.
void check_expected(ExpectedSampling& expected);

/// Why a statement is not what is expected, in one line; nothing if it is. A proof is rejected for it at /statement:
/// verify() says nothing of it. Throws InputError as check_expected() does.
std::optional<std::string> unexpected(const Expected& expected, const Statement& statement);

}  // namespace tessera
