#include "plan/plan.hpp"

#include <algorithm>

#include "base/errors.hpp"

namespace tessera {
namespace {

[[noreturn]] void fail(const std::string& what) { throw InputError("statement: " + what); }

}  // namespace

Plan::Plan(const VerifyingKey& key, std::size_t prompt, std::size_t generate)
    : prompt_length(prompt), generated(generate), tokens(prompt + generate), filler(key.filler) {
  if (prompt == 0) {
    fail("prompt: expected at least one token, found none");
  }
  if (generate == 0) {
    fail("generated: expected at least one token, found none");
  }
  if (prompt > key.shape.n_positions || generate > key.shape.n_positions - prompt) {
    fail("length: expected at most " + std::to_string(key.shape.n_positions) + " tokens (n_positions), found " +
         std::to_string(tokens));
  }
  padded_tokens = std::size_t{1} << ceil_log2(tokens);
}

void Plan::pack(std::vector<Shape> parameters) {
  parameter_layout = OracleLayout(std::move(parameters));
  witness_layout = OracleLayout(witness_shapes);
  witness_oracle = witness_oracle_parameters(witness_layout.log_size());
  check_oracle(witness_layout.log_size(), witness_oracle, "length: witness ");
}

void check_statement(const VerifyingKey& key, const Statement& statement) {
  for (const auto* ids : {&statement.prompt, &statement.generated}) {
    for (const std::uint32_t id : *ids) {
      check_token(id, key.shape.n_vocab, "statement: token id");
    }
  }
}

OracleParameters witness_oracle_parameters(unsigned log_size) {
  // few rows keep opened columns short while the first bound vector stays small; a large witness is encoded at rate 1/2
  // (half the time and memory, a few more opened columns)
  const unsigned rows = log_size >= 27 ? 7 : std::clamp(log_size, 19U, 21U) - 15;
  return {rows, log_size >= 23 ? 1U : 2U};
}

OracleParameters parameter_oracle_parameters(unsigned log_size) {
  const unsigned rows = std::clamp(log_size, 19U, 22U) - 15;
  return {rows, 1};
}

}  // namespace tessera
