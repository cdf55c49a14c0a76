#include "plan/plan.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/errors.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

[[noreturn]] void fail(const std::string& what) { throw InputError("statement: " + what); }

}  // namespace

PassShape PassShape::of(const Statement& statement) {
  const std::uint64_t past = statement.start ? statement.start->length : 0;
  constexpr std::uint64_t most = std::numeric_limits<std::size_t>::max();  // more than any limit, whatever the machine
  return {statement.prompt.size(), statement.generated.size(), static_cast<std::size_t>(std::min(past, most)),
          statement.keeps,         statement.pass_length,      statement.sampling};
}

Plan::Plan(const VerifyingKey& key, const PassShape& shape, const Division& divided)
    : pass(shape),
      division(divided),
      past(shape.past),
      prompt_length(shape.prompt + (shape.past > 0 ? 1 : 0)),
      generated(shape.generated),
      filler(key.filler),
      exception_limit(key.exceptions),
      all_lists(key.exceptions > 0 && key.hiding_proofs > 0),
      parameter_oracle(key.parameter_oracle) {
  if (prompt_length == 0) {
    fail("prompt: expected at least one token, found none");
  }
  if (generated == 0) {
    fail("generated: expected at least one token, found none");
  }
  if (pass.pass_length != 0 && !is_pass_length(pass.pass_length)) {
    fail("pass_length: expected " + std::string(pass_length_text) + ", found " + std::to_string(pass.pass_length));
  }
  std::size_t room = key.shape.n_positions;
  for (const std::size_t part : {past, shape.prompt, generated, prompt_length - shape.prompt}) {
    if (part > room) {
      fail("length: expected at most " + std::to_string(key.shape.n_positions) + " tokens (n_positions), found " +
           std::to_string(past) + " in the state and " + std::to_string(prompt_length) + " + " +
           std::to_string(generated));
    }
    room -= part;
  }
  tokens = prompt_length + generated - (past > 0 ? 1 : 0);
  kept_rows = pass.keeps ? prompt_length + generated - 1 : 0;
  passes = Passes::of(pass);
  rows = passes.rows.length;
}

void Plan::pack_model(const ModelShape& model, const StateShapes& state) {
  pack(parameter_shapes(model, division), state);
  parameter_index.fill(SIZE_MAX);
  std::size_t index = 0;
  for (const ParameterRow& row : parameter_table(model)) {
    parameter_index[row.id] = index++;
  }
}

void Plan::pack(std::vector<Shape> parameters, const StateShapes& state) {
  parameter_index.fill(SIZE_MAX);
  for (std::size_t id = 0; id < std::min(parameters.size(), parameter_index.size()); ++id) {
    parameter_index[id] = id;
  }
  pack_state({state.begin(), state.end()}).move_to(state_layout, state_oracle);
  parameter_layout = OracleLayout(std::move(parameters), parameter_oracle);
  pack_witness(witness_shapes).move_to(witness_layout, witness_oracle);
  check_oracle(witness_layout, witness_oracle, "length: witness ");
  check_oracle(state_layout, state_oracle, "length: state ");
}

Statement statement_of(const PassShape& pass) {
  Statement statement{std::vector<std::uint32_t>(pass.prompt), std::vector<std::uint32_t>(pass.generated)};
  statement.keeps = pass.keeps;
  statement.pass_length = static_cast<std::uint32_t>(pass.pass_length);
  statement.sampling = pass.sampling;
  if (pass.past > 0) {
    statement.start = ConversationState{{}, pass.past, 0};
  }
  return statement;
}

std::vector<std::uint32_t> prompt_rows(const Statement& statement) {
  std::vector<std::uint32_t> rows = statement.prompt;
  if (statement.start) {
    rows.insert(rows.begin(), statement.start->last_token);
  }
  return rows;
}

void check_statement(const VerifyingKey& key, const Statement& statement) {
  const auto check = [&](std::uint32_t id) { check_token(id, key.shape.n_vocab, "statement: token id"); };
  std::ranges::for_each(statement.prompt, check);
  std::ranges::for_each(statement.generated, check);
  if (statement.start) {
    if (statement.start->length == 0) {
      fail("start: expected a state of at least one position, found an empty one");
    }
    check(statement.start->last_token);
  }
}

PackedOracle pack_state(std::vector<Shape> tensors) {
  const unsigned log_size = ceil_log2(packed_size(tensors, 0));
  // few rows keep opened columns short, many the first bound vector, which is as long as a row; a large oracle is
  // encoded at rate 1/2 (half the time and memory, a few more opened columns)
  const unsigned rows = log_size >= 30 ? 7 : log_size >= 26 ? 6 : std::clamp(log_size, 19U, 20U) - 15;
  return pack_oracle(std::move(tensors), {rows, log_size >= 23 ? 1U : 2U});
}

namespace {

constexpr std::uint64_t witness_rate_unit = 64;
/// The most that it may be in a hiding proof, whatever its size.
constexpr std::uint64_t most_hiding_rate = 24;

/// Rows of a witness of so many values: few keep opened columns short, many the first bound vector, which is as long as
/// a row.
std::size_t witness_rows(std::uint64_t size) {
  const auto rows_for = [&](unsigned log_columns, std::uint64_t most) {
    const std::uint64_t rows = (size + (std::uint64_t{1} << log_columns) - 1) >> log_columns;
    return std::min((rows + row_unit - 1) / row_unit * row_unit, most);
  };
  return std::max({std::uint64_t{16}, rows_for(15, 32), rows_for(20, 64), rows_for(24, 128)});
}

/// The most that a witness's rate may be, in units of 1/64. The more there is to encode, the more its time counts
/// beside the bytes of columns that are opened; it grows in small steps, so that these do, and where columns get longer
/// it falls, so that there are fewer.
std::uint64_t most_witness_rate(std::uint64_t size) {
  const auto growth = [&](unsigned log_begin, std::uint64_t most) {
    const std::uint64_t begin = std::uint64_t{1} << log_begin;
    return most * (std::clamp(size, begin, 2 * begin) - begin) >> log_begin;
  };
  if (size > std::uint64_t{1} << 25 && size <= std::uint64_t{1} << 26) {
    constexpr unsigned log_half_step = 22;  // witness_rows() has 8 more after every 2^23 values
    return 27 + ((size - 1) >> log_half_step) % 2;
  }
  return 12 + growth(21, 12) + std::min<std::uint64_t>(growth(24, 6), 4) + std::min<std::uint64_t>(growth(26, 4), 2);
}

/// As many points as the columns need, in pieces.
void choose_points(const OracleLayout& layout, std::uint64_t most_rate, OracleParameters& oracle) {
  const WordDomain domain = WordDomain::of((witness_rate_unit * layout.columns(oracle) + most_rate - 1) / most_rate);
  oracle.log_inverse_rate = domain.log_size - layout.log_columns(oracle);
  oracle.absent_pieces = domain.absent_pieces;
}

}  // namespace

PackedOracle pack_witness(std::vector<Shape> tensors) {
  const std::uint64_t size = packed_size(tensors, 0);
  const std::size_t rows = witness_rows(size);
  const unsigned log_rows = ceil_log2(rows);
  const OracleParameters parameters{.log_rows = log_rows,
                                    .absent_rows = static_cast<std::uint32_t>((std::size_t{1} << log_rows) - rows)};
  PackedOracle packed{OracleLayout(std::move(tensors), parameters), parameters};
  choose_points(packed.layout, most_witness_rate(size), packed.parameters);
  return packed;
}

PackedOracle pack_hiding_witness(std::vector<Shape> tensors, unsigned log_rows) {
  PackedOracle packed{OracleLayout(std::move(tensors), OracleParameters{log_rows}), {log_rows}};
  choose_points(packed.layout, most_hiding_rate, packed.parameters);
  return packed;
}

namespace {

/// From so many parameters on, log2, the vector of bound rows costs every proof more than a larger codeword costs once:
/// all rows are there, so that columns are few, and the rate is low, so that few of these long columns are opened.
constexpr unsigned log_large_model = 27;
constexpr std::uint64_t most_low_rate_bytes = std::uint64_t{1} << 33;

/// All rows at a rate of at most 1/3, if the codeword is not too large then.
std::optional<OracleParameters> low_rate_parameters(std::uint64_t size) {
  constexpr unsigned log_rows = 7;
  const std::uint64_t columns = (size + (1U << log_rows) - 1) >> log_rows;
  const unsigned log_domain = ceil_log2(3 * columns);
  if (ceil_log2(size) < log_large_model || std::uint64_t{sizeof(F)} << (log_rows + log_domain) > most_low_rate_bytes) {
    return std::nullopt;
  }
  return OracleParameters{log_rows, log_domain - ceil_log2(columns)};
}

}  // namespace

OracleParameters parameter_oracle_parameters(std::vector<Shape> tensors, bool hiding) {
  const std::uint64_t size = packed_size(tensors, most_log_rows);
  const std::optional<OracleParameters> low_rate = hiding ? std::nullopt : low_rate_parameters(size);
  if (low_rate) {
    return *low_rate;
  }
  const unsigned log_size = ceil_log2(size);
  const unsigned rows = log_size >= 28 ? 7 : std::clamp(log_size, 19U, 21U) - 15;
  const OracleParameters all{rows, 1};
  return hiding ? all : pack_oracle(std::move(tensors), all).parameters;
}

}  // namespace tessera
