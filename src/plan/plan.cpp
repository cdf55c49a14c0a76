#include "plan/plan.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "base/errors.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

constexpr unsigned piece_bits = 16;

/// Builds tables, columns and committed tensors in the order in which they are declared.
class Builder {
 public:
  explicit Builder(Plan& plan) : plan_(plan) {}

  TensorId commit(const std::string& name, const Shape& shape) {
    plan_.witness_names.push_back(name);
    plan_.witness_shapes.push_back(shape);
    return plan_.witness_shapes.size() - 1;
  }

  /// A value (or virtual tensor): all pieces but the top one are committed.
  RangeCheck value(const std::string& name, const Shape& shape, unsigned width, bool is_signed = false) {
    return range(name, shape, width, is_signed ? std::int64_t{1} << (width - 1) : 0, false);
  }

  /// A remainder of rshift: it is the sum of its committed pieces.
  RangeCheck remainder(const std::string& name, const Shape& shape, int shift) {
    return range(name, shape, static_cast<unsigned>(shift), 0, true);
  }

  PairLookup pair(const std::string& name, const Shape& shape, std::size_t table) {
    PairLookup lookup;
    lookup.shape = shape;
    lookup.output = commit(name, shape);
    lookup.column = column(name, shape, table);
    return lookup;
  }

  /// Numbers the range tables by width, after all columns are known, and appends them.
  void finish_tables() {
    std::map<unsigned, std::size_t> number;
    for (const auto& [column_index, width] : widths_) {
      number[width] = 0;
    }
    for (auto& [width, table] : number) {
      table = plan_.lookup.tables.size();
      plan_.lookup.tables.push_back({"range" + std::to_string(width), width, {}});
    }
    for (const auto& [column_index, width] : widths_) {
      plan_.lookup.columns[column_index].table = number[width];
    }
    for (const LookupTable& table : plan_.lookup.tables) {
      plan_.multiplicities.push_back(
          commit("multiplicity/" + table.name, Shape({Dimension::whole(std::size_t{1} << table.log_size)})));
    }
  }

 private:
  std::size_t column(const std::string& name, const Shape& shape, std::size_t table) {
    plan_.lookup.columns.push_back({name, shape, table});
    return plan_.lookup.columns.size() - 1;
  }

  RangeCheck range(const std::string& name, const Shape& shape, unsigned width, std::int64_t offset, bool commit_top) {
    RangeCheck range{name, shape, width, offset, {}, {}};
    const unsigned pieces = (width + piece_bits - 1) / piece_bits;
    for (unsigned i = 0; i < pieces; ++i) {
      const bool top = i + 1 == pieces;
      const std::string piece = name + "/" + std::to_string(i);
      const std::size_t index = column(piece, shape, 0);
      widths_.emplace_back(index, top ? width - piece_bits * i : piece_bits);
      range.columns.push_back(index);
      if (!top || commit_top) {
        range.committed.push_back(commit(piece, shape));
      }
    }
    return range;
  }

  Plan& plan_;
  std::vector<std::pair<std::size_t, unsigned>> widths_;  // column, width of its range table
};

LayerNormPlan layer_norm_plan(Builder& builder, std::size_t number, const std::string& name, const Plan& plan,
                              const Shape& activation, const Shape& token, int gamma, int beta, int u) {
  const unsigned mean_bits = std::max(1U, ceil_log2(plan.model.n_embd));
  LayerNormPlan norm;
  norm.number = number;
  norm.activation = activation;
  norm.token = token;
  norm.shift = plan.exponents.shift_norm(gamma, u);
  norm.bias_shift = plan.exponents.bias_norm(gamma, beta);
  norm.mu = builder.commit(name + "/mu", token);
  norm.sigma = builder.commit(name + "/sigma", token);
  norm.inverse = builder.commit(name + "/inverse", token);
  norm.mu_range = builder.value(name + "/mu", token, plan.constants.residual_bits, true);
  norm.mean_remainder = builder.value(name + "/mean_remainder", token, mean_bits);
  norm.mean_complement = builder.value(name + "/mean_complement", token, mean_bits);
  norm.sigma_range = builder.value(name + "/sigma", token, 31);
  norm.root_remainder = builder.value(name + "/root_remainder", token, 32);
  norm.root_complement = builder.value(name + "/root_complement", token, 32);
  norm.inverse_range = builder.value(name + "/inverse", token, plan.constants.inverse_bits);
  norm.inverse_remainder = builder.value(name + "/inverse_remainder", token, 31);
  norm.inverse_complement = builder.value(name + "/inverse_complement", token, 31);
  norm.u = builder.value(name + "/u", activation, 16, true);
  norm.u_remainder = builder.remainder(name + "/u_remainder", activation, norm.shift);
  return norm;
}

void check_statement(const VerifyingKey& key, const Statement& statement) {
  const auto fail = [](const std::string& what) { throw InputError("statement: " + what); };
  const std::size_t tokens = statement.prompt.size() + statement.generated.size();
  if (statement.prompt.empty()) {
    fail("prompt: expected at least one token, found none");
  }
  if (statement.generated.empty()) {
    fail("generated: expected at least one token, found none");
  }
  if (tokens > key.shape.n_positions) {
    fail("length: expected at most " + std::to_string(key.shape.n_positions) + " tokens (n_positions), found " +
         std::to_string(tokens));
  }
  for (const auto* ids : {&statement.prompt, &statement.generated}) {
    for (const std::uint32_t id : *ids) {
      if (id >= key.shape.n_vocab) {
        fail("token id: expected below " + std::to_string(key.shape.n_vocab) + ", found " + std::to_string(id));
      }
    }
  }
}

}  // namespace

std::vector<Shape> parameter_shapes(const ModelShape& model) {
  const ActivationShapes activations = ActivationShapes::of(model, 1);
  const Dimension block = Dimension::outer(model.n_layer);
  const Dimension feature = Dimension::tiled(model.n_embd);
  const Dimension qkv = activations.block_qkv.dimensions()[1];
  const Dimension inner = Dimension::tiled(model.n_inner);
  std::vector<Shape> shapes(parameter_count);
  shapes[embedding] = Shape({Dimension::tiled(model.n_vocab), feature});
  shapes[position] = Shape({Dimension::tiled(model.n_positions), feature});
  shapes[wq] = shapes[wk] = shapes[wv] = Shape({block, qkv, feature});
  shapes[wo] = Shape({block, feature, feature});
  shapes[w1] = Shape({block, inner, feature});
  shapes[w2] = Shape({block, feature, inner});
  shapes[bq] = shapes[bk] = shapes[bv] = Shape({block, qkv});
  shapes[b1] = Shape({block, inner});
  shapes[bo] = shapes[b2] = Shape({block, feature});
  shapes[gamma1] = shapes[beta1] = shapes[gamma2] = shapes[beta2] = Shape({block, feature});
  shapes[gammaf] = shapes[betaf] = Shape({feature});
  return shapes;
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

Plan Plan::of(const VerifyingKey& key, const Statement& statement) {
  // all widths below rely on these, whoever made the key
  check_shape(key.shape);
  check_exponents(key.exponents);
  check_epsilon(key.shape, key.epsilon);
  if (key.exp_table.size() != std::size_t{1} << (exp_table_log_size - 1) ||
      key.gelu_table.size() != std::size_t{1} << gelu_table_log_size) {
    throw InputError("verifying key: function tables: expected 2^16 rows each, found " +
                     std::to_string(key.exp_table.size()) + " and " + std::to_string(key.gelu_table.size()));
  }
  check_statement(key, statement);
  // before any shape is built: score tiles are the only chunks whose number grows with the square of the length
  const std::size_t side = (statement.prompt.size() + statement.generated.size() + 63) / 64;
  if (key.shape.n_layer * key.shape.n_head * side * side > max_score_tiles) {
    throw InputError("length: expected at most 2^22 score tiles in all blocks and heads, found more");
  }
  Plan plan;
  plan.model = key.shape;
  plan.exponents = key.exponents;
  plan.constants = IntegerConstants::of(key.shape, key.epsilon);
  plan.prompt_length = statement.prompt.size();
  plan.generated = statement.generated.size();
  plan.tokens = plan.prompt_length + plan.generated;
  plan.padded_tokens = std::size_t{1} << ceil_log2(plan.tokens);
  plan.filler = key.filler;
  plan.whole_heads = std::has_single_bit(plan.model.head_size());
  plan.shapes = ActivationShapes::of(plan.model, plan.padded_tokens);
  const ActivationShapes& shapes = plan.shapes;
  const Dimension place = Dimension::whole(plan.model.head_size());
  plan.head_feature =
      Shape({Dimension::outer(plan.model.n_layer), Dimension{plan.model.n_head << place.log_chunk, place.log_chunk},
             Dimension::whole(plan.padded_tokens)});
  const Dimension rows = Dimension::whole(plan.generated);
  plan.logits = Shape({Dimension::tiled(plan.model.n_vocab), rows});

  const Exponents& e = plan.exponents;
  const unsigned kappa = plan.constants.kappa;
  const unsigned log_tokens = ceil_log2(plan.padded_tokens);
  Builder builder(plan);
  const std::size_t exp_table = 0;
  const std::size_t gelu_table = 1;
  std::vector<std::int64_t> exp_values(std::size_t{1} << exp_table_log_size);
  std::ranges::copy(key.exp_table, exp_values.begin());
  plan.lookup.tables.push_back({"exp", exp_table_log_size, std::move(exp_values)});
  plan.lookup.tables.push_back({"gelu", gelu_table_log_size, {key.gelu_table.begin(), key.gelu_table.end()}});

  const unsigned residual_bits = plan.constants.residual_bits;
  plan.x_in = builder.commit("x_in", shapes.block_feature);
  plan.x_in_range = builder.value("x_in", shapes.block_feature, residual_bits, true);
  plan.x_mid = builder.commit("x_mid", shapes.block_feature);
  plan.x_mid_range = builder.value("x_mid", shapes.block_feature, residual_bits, true);
  plan.x_end = builder.commit("x_end", shapes.feature);
  plan.x_end_range = builder.value("x_end", shapes.feature, residual_bits, true);
  plan.ln1 = layer_norm_plan(builder, 0, "layer_norm_1", plan, shapes.block_feature, shapes.block_token, e.gamma1,
                             e.beta1, e.u1);
  plan.ln2 = layer_norm_plan(builder, 1, "layer_norm_2", plan, shapes.block_feature, shapes.block_token, e.gamma2,
                             e.beta2, e.u2);
  plan.lnf =
      layer_norm_plan(builder, 2, "layer_norm_final", plan, shapes.feature, shapes.token, e.gammaf, e.betaf, e.uf);
  plan.q = builder.value("q", shapes.block_qkv, 16, true);
  plan.k = builder.value("k", shapes.block_qkv, 16, true);
  plan.v = builder.value("v", shapes.block_qkv, 16, true);
  plan.q_remainder = builder.remainder("q_remainder", shapes.block_qkv, e.shift_q());
  plan.k_remainder = builder.remainder("k_remainder", shapes.block_qkv, e.shift_k());
  plan.v_remainder = builder.remainder("v_remainder", shapes.block_qkv, e.shift_v());
  plan.exponential = builder.pair("exponential", shapes.scores, exp_table);
  plan.score_remainder = builder.remainder("score_remainder", shapes.scores, e.shift_score());
  plan.row_max = builder.commit("row_max", shapes.block_row);
  plan.row_max_range = builder.value("row_max", shapes.block_row, 16, true);
  plan.row_inverse = builder.commit("row_inverse", shapes.block_row);
  plan.row_inverse_range = builder.value("row_inverse", shapes.block_row, softmax_shift - kappa - 15);
  plan.division_remainder = builder.value("division_remainder", shapes.block_row, 16 + kappa + log_tokens);
  plan.division_complement = builder.value("division_complement", shapes.block_row, 16 + kappa + log_tokens);
  plan.row_sum_quotient = builder.commit("row_sum_quotient", shapes.block_row);
  plan.quotient_range = builder.value("row_sum_quotient", shapes.block_row, 16 + log_tokens);
  plan.count_range = builder.value("maximum_count", shapes.block_row, kappa - 1);
  plan.y = builder.value("y", plan.head_feature, 16, true);
  plan.y_remainder = builder.remainder("y_remainder", plan.head_feature, softmax_shift);
  plan.o_remainder = builder.remainder("o_remainder", shapes.block_feature, e.shift_o());
  plan.gelu = builder.pair("gelu", shapes.block_inner, gelu_table);
  plan.mlp_remainder = builder.remainder("mlp_remainder", shapes.block_inner, e.shift_1());
  plan.mlp_out_remainder = builder.remainder("mlp_out_remainder", shapes.block_feature, e.shift_2());
  plan.token_logit = builder.commit("token_logit", Shape({rows}));
  plan.logit_difference = builder.value("logit_difference", plan.logits, 48);
  builder.finish_tables();

  plan.parameter_layout = OracleLayout(parameter_shapes(plan.model));
  plan.witness_layout = OracleLayout(plan.witness_shapes);
  const unsigned log_size = plan.witness_layout.log_size();
  plan.witness_oracle = witness_oracle_parameters(log_size);
  if (log_size + plan.witness_oracle.log_inverse_rate > F::two_adicity + plan.witness_oracle.log_rows) {
    throw InputError(
        "length: expected a witness of at most 2^" +
        std::to_string(F::two_adicity + plan.witness_oracle.log_rows - plan.witness_oracle.log_inverse_rate) +
        " cells, found 2^" + std::to_string(log_size));
  }
  return plan;
}

}  // namespace tessera
