#include "llama_fixture.hpp"

#include "integer_model/integer_model.hpp"

#include "../model/llama_shapes.hpp"
#include "../model/random_model.hpp"

namespace tessera::test {
namespace {

void name_tokens(Model& model) {
  const ModelShape& shape = model.shape;
  for (std::size_t id = 0; id < shape.n_vocab; ++id) {
    model.tokenizer.vocabulary.emplace_back(1, static_cast<char>('a' + id));
  }
  model.tokenizer.end_of_text = static_cast<std::uint32_t>(shape.n_vocab - 1);
}

Model random_model(LlamaKind kind) {
  const ModelShape shape = llama_shapes()[kind];
  constexpr std::array<Widths, llama_kinds> widths{Widths{}, Widths{20, 17, 20, 16}, Widths{28, 16, 24, 18}};
  Model model = RandomModel(100 + kind).make(shape, widths[kind], kind == biased ? 10 : 12);
  name_tokens(model);
  return model;
}

Model random_model(FamilyKind kind) {
  const ModelShape shape = family_shape(kind);
  Model model = RandomModel(200 + kind).make(shape, RandomModel::widths_of(shape));
  name_tokens(model);
  return model;
}

/// A layer's infer() for whichever it is.
template <class... Layers, class... Arguments>
void infer(const InferenceContext& context, const std::variant<Layers...>& layer, Arguments&&... arguments) {
  std::visit([&](const auto& chosen) { tessera::infer(context, chosen, arguments...); }, layer);
}

/// The plan's table of caps, which may be a liar's.
std::vector<std::int32_t> cap_table_of(const ModelPlan& plan) {
  if (!plan.attention.cap_table) {
    return {};
  }
  const std::vector<std::int64_t>& values = plan.lookup.tables[*plan.attention.cap_table].values;
  return {values.begin(), values.end()};
}

/// One pass over all rows; the tokens that it chooses.
std::vector<std::uint32_t> run_rows(const VerifyingKey& key, const InferenceContext& context, const ModelPlan& plan,
                                    const LlamaLiar& liar) {
  Trace& trace = *context.trace;
  QkvCache cache(plan.query_rows(0, 1), plan.key_rows(0, 1), plan.model.n_layer, 0, plan.rows);
  Batch batch{.first = 0, .size = plan.rows, .x = {}, .u = {}};
  LlamaRun run{plan, context, trace, batch, cache};
  const std::vector<std::int32_t> caps = cap_table_of(plan);
  const auto tell = [&](LlamaStage stage, std::size_t block) {
    if (liar) {
      liar(stage, block, run);
    }
  };
  tessera::infer(context, plan.embedding, trace.tokens, batch);
  tell(LlamaStage::embedding, 0);
  for (std::size_t block = 0; block < plan.model.n_layer; ++block) {
    record_residual(context, plan.x_in, block, batch);
    std::vector<std::int16_t> beside;
    const Branches branches = plan.model.layers.branches;
    if (branches == Branches::parallel) {
      infer(context, plan.norm_2, block, batch);
      beside = batch.u;
    }
    infer(context, plan.norm_1, block, batch);
    tell(LlamaStage::norm_1, block);
    infer(context, plan.qkv, block, batch, cache);
    tell(LlamaStage::qkv, block);
    const std::vector<std::int16_t> y =
        tessera::infer(context, plan.attention, {key.exp_table, caps}, cache, block, batch);
    tessera::infer(context, plan.projection, y, block, batch);
    tell(LlamaStage::projection, block);
    record_residual(context, plan.x_mid, block, batch);
    if (branches == Branches::sequential) {
      infer(context, plan.norm_2, block, batch);
    } else if (branches == Branches::parallel) {
      batch.u = beside;
    }
    tell(LlamaStage::norm_2, block);
    infer(context, plan.mlp, key.gelu_table, block, batch);
    tell(LlamaStage::mlp, block);
  }
  record_residual(context, plan.x_end, 0, batch);
  infer(context, plan.norm_final, std::size_t{0}, batch);
  tell(LlamaStage::norm_final, 0);
  context.guard.agree(context.comm);
  const std::size_t first = plan.prompt_length - 1;
  std::vector<std::int32_t> u = batch.wide_u;
  if (u.empty()) {
    u.assign(batch.u.begin(), batch.u.end());
  }
  return infer_choices(context, plan.logits, u, {first, first + plan.generated}, 0);
}

/// Writes rshift(sum, shift) of the filler's row.
template <class T, class R>
T round_to(std::int64_t sum, int shift, const TokenRow<T>& values, const TokenRow<R>& remainders) {
  const Rounded rounded = rshift(sum, shift);
  values[filler_row] = static_cast<T>(rounded.quotient);
  remainders[filler_row] = static_cast<R>(rounded.remainder);
  return values[filler_row];
}

}  // namespace

TestModel& llama_model(LlamaKind kind) {
  static std::array<std::optional<TestModel>, llama_kinds> models;
  if (!models[kind]) {
    models[kind].emplace(random_model(kind));
  }
  return *models[kind];
}

TestModel& family_model(FamilyKind kind) {
  static std::array<std::optional<TestModel>, family_kinds> models;
  if (!models[kind]) {
    models[kind].emplace(random_model(kind));
  }
  return *models[kind];
}

LlamaLiar llama_lie(LlamaStage stage, std::size_t block, std::function<void(LlamaRun&)> lie) {
  return [stage, block, lie = std::move(lie)](LlamaStage now, std::size_t here, LlamaRun& run) {
    if (now == stage && here == block) {
      lie(run);
    }
  };
}

Verdict verdict_on_llama(TestModel& test, const ModelPlan& plan, LlamaLie lie, const ForgeryChange& change) {
  Forgery forgery(test, std::move(lie.statement), plan, std::move(lie.trace));
  if (change) {
    change(forgery);
    forgery.recount();
  }
  return verdict_of(forgery, plan);
}

ModelPlan llama_plan(const VerifyingKey& key) { return ModelPlan::of(key, llama_prompt.size(), llama_generated); }

LlamaLie llama_inference(TestModel& test, const ModelPlan& plan, const LlamaLiar& liar, const Parameters* parameters) {
  LlamaLie lie;
  lie.statement.prompt = llama_prompt;
  lie.statement.sampling = plan.pass.sampling;
  std::vector<std::uint32_t> chosen(llama_generated);
  do {  // a token depends on those before it
    lie.statement.generated = chosen;
    lie.trace = Trace(plan, 0, 1);
    lie.trace.tokens = row_tokens(plan, lie.statement);
    RangeGuard guard;
    const InferenceContext context{
        parameters != nullptr ? *parameters : test.model.parameters, test.comm, guard, &lie.trace, plan.rows, 0};
    chosen = run_rows(test.key, context, plan, liar);
  } while (chosen != lie.statement.generated);
  lie.trace.last_token = chosen.back();
  return lie;
}

void renormalize(LlamaRun& run, const RmsNormPlan& norm, std::size_t block, std::int64_t sigma_by,
                 std::int64_t inverse_by) {
  const std::size_t n = run.batch.size;
  std::int32_t& sigma = run.trace[norm.sigma].values()[block * n + filler_row];
  std::int32_t& inverse = run.trace[norm.inverse].values()[block * n + filler_row];
  sigma = static_cast<std::int32_t>(sigma + sigma_by);
  inverse = static_cast<std::int32_t>(norm.norm_numerator / sigma + inverse_by);
  const std::span<const std::int16_t> gamma = run.context.vector(norm.gamma, block);
  const auto round = [&](const auto& recorded, auto& values) {
    for (std::size_t f = 0; f < norm.features; ++f) {
      values[f * n + filler_row] =
          round_to(std::int64_t{run.batch.x[f * n + filler_row]} * inverse * gamma[f], norm.shift,
                   block_row(run.trace[recorded], block, f), block_row(run.trace[norm.u_remainder], block, f));
    }
  };
  norm.wide() ? round(norm.wide_u, run.batch.wide_u) : round(norm.u, run.batch.u);
}

void renormalize_head(LlamaRun& run, std::size_t part, std::size_t block, std::size_t head, std::int64_t sigma,
                      std::int64_t inverse_by) {
  const GroupedQkvPlan& qkv = grouped_qkv(run.plan);
  const HeadNormPlan& norm = qkv.head_norm.at(part).value();
  const std::size_t chunk = block * norm.token.chunk_count() / run.plan.model.n_layer + head;
  const std::int64_t inverse = norm.norm_numerator / sigma + inverse_by;
  run.trace[norm.sigma].chunk(chunk)[filler_row] = static_cast<std::int32_t>(sigma);
  run.trace[norm.inverse].chunk(chunk)[filler_row] = static_cast<std::int32_t>(inverse);
  const std::span<const std::int16_t> gamma = run.context.vector(norm.gamma, block);
  const std::size_t half = qkv.rotary.half;
  const std::size_t first = head * 2 * half;
  const auto product = [&](std::size_t i) {
    return block_row(run.trace[norm.h], block, first + i)[filler_row] * inverse * gamma[i];
  };
  const auto set = [&](std::size_t i, std::int64_t sum) {
    const std::int16_t value = round_to(sum, qkv.shift[part], block_row(run.trace[qkv.value[part]], block, first + i),
                                        block_row(run.trace[qkv.remainder[part]], block, first + i));
    (part == 0 ? run.cache.q[(first + i) * run.batch.size + filler_row]
               : run.cache.k[run.cache.block_offset(block) + (first + i) * run.cache.capacity + filler_row]) = value;
  };
  for (std::size_t i = 0; i < half; ++i) {
    const std::int64_t cos = qkv.rotary.cos(0, filler_row)[i];
    const std::int64_t sin = qkv.rotary.sin(0, filler_row)[i];
    set(i, product(i) * cos - product(half + i) * sin);
    set(half + i, product(half + i) * cos + product(i) * sin);
  }
}

void redo_gating(LlamaRun& run, std::size_t block, std::size_t row, std::int32_t by) {
  const GatedMlpPlan& mlp = gated_mlp(run.plan);
  Trace& trace = run.trace;
  block_row(trace[mlp.product], block, row)[filler_row] =
      by + static_cast<std::int32_t>(rshift(std::int64_t{block_row(trace[mlp.activation], block, row)[filler_row]} *
                                                block_row(trace[mlp.up_sum], block, row)[filler_row],
                                            mlp.shift_product)
                                         .quotient);
  for (std::size_t f = 0; f < run.plan.model.n_embd; ++f) {
    const auto weights = run.context.parameters[mlp.down].block(block).row(f);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      sum += std::int64_t{weights[i]} * block_row(trace[mlp.product], block, i)[filler_row];
    }
    const Rounded update = rshift(sum, mlp.shift_down);
    block_row(trace[mlp.out_remainder], block, f)[filler_row] = static_cast<std::uint16_t>(update.remainder);
    run.batch.x[f * run.batch.size + filler_row] =
        static_cast<std::int32_t>(block_row(trace[run.plan.x_mid], block, f)[filler_row] + update.quotient);
  }
}

}  // namespace tessera::test
