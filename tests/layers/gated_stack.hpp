#pragma once

#include "layers/embedding/embedding.hpp"
#include "layers/gated_mlp/gated_mlp.hpp"
#include "layers/rms_norm/rms_norm.hpp"
#include "integer_model/integer_model.hpp"
#include "subprotocols/inference.hpp"

#include "layer_case.hpp"

namespace tessera::test {

struct StackSize {
  ModelShape model;
  std::size_t tokens = 0;
  int embedding_shift = 0;
  unsigned product_bits = 16;
};

/// Embedding without positions, then blocks of RMS norm and gated MLP, and a final norm, on GPT-2's parameters: gate
/// and up are both w1.
struct GatedStack : Plan {
  CommittedValue<std::int32_t> x_in, x_end;
  EmbeddingPlan embedding;
  RmsNormPlan norm, norm_final;
  GatedMlpPlan mlp;
  std::size_t blocks;

  GatedStack(const VerifyingKey& key, const StackSize& size) : Plan(key, {.prompt = size.tokens, .generated = 1}) {
    const ModelShape& model = size.model;
    const Exponents& e = key.exponents;
    const auto constants = IntegerConstants::of(model, key.epsilon);
    const Dimension block = Dimension::outer(model.n_layer);
    const Dimension feature = Dimension::tiled(model.n_embd);
    const Dimension token = passes.rows;
    blocks = model.n_layer;
    Builder builder(*this);
    const std::size_t table =
        builder.table("gelu", gelu_table_log_size, {key.gelu_table.begin(), key.gelu_table.end()});
    x_in = builder.committed_value<std::int32_t>("x_in", Shape({block, feature, token}), {1}, constants.residual_bits,
                                                 true);
    x_end = builder.committed_value<std::int32_t>("x_end", Shape({feature, token}), {0}, constants.residual_bits, true);
    EmbeddingSpec input;
    input.feature = Shape({block, feature, token});
    input.rows = Shape({feature, token});
    input.embedding = tessera::embedding;
    input.vocabulary = Dimension::tiled(model.n_vocab);
    input.x_in = x_in;
    input.shift = size.embedding_shift;
    embedding = EmbeddingPlan::declare(builder, input);
    const auto norm_of = [&](const char* name, const CommittedValue<std::int32_t>& x, ParameterId gamma, int gain,
                             int u, std::vector<Dimension> dimensions) {
      RmsNormSpec spec;
      spec.name = spec.title = name;
      spec.activation = Shape(dimensions);
      dimensions.erase(dimensions.end() - 2);
      spec.token = Shape(dimensions);
      spec.x = x;
      spec.gamma = gamma;
      spec.shift = normalized_exponent({}) + gain - u;
      spec.features = model.n_embd;
      spec.inverse_bits = constants.inverse_bits;
      spec.epsilon = constants.epsilon;
      spec.norm_numerator = constants.norm_numerator;
      return RmsNormPlan::declare(builder, spec);
    };
    norm = norm_of("norm", x_in, gamma2, e[gamma2], e[scales::u2], {block, feature, token});
    norm_final = norm_of("final_norm", x_end, gammaf, e[gammaf], e[scales::uf], {feature, token});
    const int product = size.product_bits == 16 ? 10 : 13;
    GatedMlpSpec spec;
    spec.feature = norm.activation;
    spec.inner = Shape({block, Dimension::tiled(model.n_inner), token});
    spec.gate = spec.up = w1;
    spec.down = w2;
    spec.shift_gate = e[w1] + e[scales::u2] - e[scales::mlp];
    spec.shift_product = e[scales::gelu] + e[w1] + e[scales::u2] - product;
    spec.shift_down = e[w2] + product - (e[scales::residual] - size.embedding_shift);
    spec.product_bits = size.product_bits;
    spec.table = table;
    spec.residual_bits = constants.residual_bits;
    spec.x_in = spec.x_mid = x_in;
    spec.x_end = x_end;
    spec.u = norm.u;
    mlp = GatedMlpPlan::declare(builder, spec);
    builder.finish_tables();
    const Shape state({block, feature, Dimension::whole(model.n_positions)});
    pack_model(model, {state, state});
  }
};

/// A stack with its true witness, or one with a lie, and a true look-up.
class StackCase {
 public:
  StackCase(const StackSize& size, Communicator& communicator, const std::function<void(StackCase&)>& lie = {})
      : comm(communicator),
        generator_(11),
        model(generator_.make(size.model)),
        integers_(integer_model(model)),
        plan(integers_.key, size),
        tokens(generator_.tokens(size.tokens, size.model.n_vocab)),
        trace(plan, comm.rank(), comm.size()),
        parameters_(ParameterTensors::of(size.model, model.parameters, comm.rank(), {comm.size(), 0})) {
    statement.prompt = tokens;
    statement.generated = {3};
    plan.filler = 2;
    tokens = row_tokens(plan, statement);
    // a wide and a narrow batch
    append(0, plan.rows - 2);
    append(plan.rows - 2, 2);
    guard_.agree(comm);
    if (lie) {
      lie(*this);
    }
    witness = std::make_unique<Witness>(plan, trace, parameters_, comm);
    derive(*witness, plan.norm, comm);
    derive(*witness, plan.norm_final, comm);
    derive(*witness, plan.mlp, comm);
    witness->finish(comm, lie ? OutOfRange::skip : OutOfRange::refuse);
    lookup.emplace(plan, true_lookup(plan, *witness, comm));
  }
  StackCase(const StackCase&) = delete;
  StackCase& operator=(const StackCase&) = delete;

  Communicator& comm;

 private:
  void append(std::size_t first, std::size_t size) {
    const InferenceContext context{model.parameters, comm, guard_, &trace, plan.rows, 0};
    Batch batch{.first = first, .size = size, .x = {}, .u = {}};
    infer(context, plan.embedding, std::span(tokens).subspan(first, size), batch);
    for (std::size_t block = 0; block < plan.blocks; ++block) {
      record_residual(context, plan.x_in, block, batch);
      infer(context, plan.norm, block, batch);
      infer(context, plan.mlp, integers_.key.gelu_table, block, batch);
    }
    record_residual(context, plan.x_end, 0, batch);
    infer(context, plan.norm_final, 0, batch);
  }

  RandomModel generator_;
  RangeGuard guard_;

 public:
  Model model;

 private:
  IntegerModel integers_;

 public:
  GatedStack plan;
  std::vector<std::uint32_t> tokens;
  Trace trace;
  Statement statement;

 private:
  ParameterTensors parameters_;

 public:
  std::unique_ptr<Witness> witness;
  std::optional<LookupValues> lookup;
  [[nodiscard]] std::span<const std::int32_t> table() const { return integers_.key.gelu_table; }
};

}  // namespace tessera::test
