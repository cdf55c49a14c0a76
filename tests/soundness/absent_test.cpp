// Texts of 41 tokens: 48 rows in three chunks of 16, of which a fourth is absent. What stands there, or is said to, and
// what is said of filler, keys and states at the borders of chunks.

#include <gtest/gtest.h>

#include "../model/random_model.hpp"
#include "parts.hpp"

namespace tessera::test {
namespace {

constexpr std::size_t chunk_rows = 16, present_rows = 48;
constexpr std::size_t prompt_length = 38, generated_count = 3;

Model random_model(const ModelShape& shape) {
  Model model = RandomModel(7).make(shape);
  for (std::size_t id = 0; id < shape.n_vocab; ++id) {
    model.tokenizer.vocabulary.emplace_back(1, static_cast<char>('!' + id));
  }
  model.tokenizer.end_of_text = static_cast<std::uint32_t>(shape.n_vocab - 1);
  return model;
}
TestModel& gpt2() {
  static TestModel test(random_model({2, 36, 3, 80, 40, 70}));
  return test;
}
TestModel& llama() {
  static TestModel test(random_model({2, 36, 6, 80, 40, 70, rotary_layers, 3, 6, false, true, true}));
  return test;
}
TestModel& capped() {
  static TestModel test([] {
    ModelShape shape{2, 36, 6, 80, 40, 70, rotary_layers, 3, 6, true, true};  // biases of q, k, v
    shape.score_cap = true;
    return random_model(shape);
  }());
  return test;
}

Ids prompt_of(std::size_t length) {
  Ids ids(length);
  for (std::size_t i = 0; i < length; ++i) {
    ids[i] = static_cast<std::uint32_t>(2 + i % 37);
  }
  return ids;
}

Statement statement_of(bool keeps = false, std::uint32_t pass_length = 0) {
  Statement statement{prompt_of(prompt_length), Ids(generated_count)};
  statement.keeps = keeps;
  statement.pass_length = pass_length;
  return statement;
}

TEST(Absent, rows_are_there_and_honest_proofs_are_accepted) {
  for (TestModel* test : {&gpt2(), &llama(), &capped()}) {
    const Part part = prove_part(*test, nullptr, statement_of());
    expect_accepted(verify(*test, part));
    const ModelPlan plan = ModelPlan::of(test->key, part.statement);
    EXPECT_EQ(plan.rows, present_rows);
    EXPECT_EQ(plan.passes.rows.chunk(), chunk_rows);
    EXPECT_EQ(plan.passes.rows.bits(), 6U);
  }
}

/// The plan of a text of `more` more rows of the prompt, but with the lengths of the statement: rows of filler.
ModelPlan with_more_rows(const VerifyingKey& key, const Statement& statement, std::size_t more) {
  const ModelPlan honest = ModelPlan::of(key, PassShape::of(statement));
  PassShape longer = honest.pass;
  longer.prompt += more;
  ModelPlan plan = ModelPlan::of(key, longer);
  plan.pass = honest.pass;
  plan.prompt_length = honest.prompt_length;
  plan.tokens = honest.tokens;
  plan.kept_rows = plan.cache.added = honest.kept_rows;
  return plan;
}

// A chunk that is absent is made present: u, x and y, and all else of its rows, are those of filler.

class AbsentChunk : public ::testing::TestWithParam<const char*> {
 protected:
  AbsentChunk() : part(prove_part(test, nullptr, statement_of(), [this](ModelPlan& plan) { plan = lie; })) {}

  [[nodiscard]] Verdict verdict(const ModelPlan& plan) const {
    return verify_inference(plan, test.key, part.statement, part.payload);
  }

  const std::string name = GetParam();
  TestModel& test = name == "gpt2" ? gpt2() : name == "llama" ? llama() : capped();
  const ModelPlan honest = ModelPlan::of(test.key, PassShape::of(statement_of()));
  const ModelPlan lie = with_more_rows(test.key, statement_of(), chunk_rows);
  const Part part;
};

TEST_P(AbsentChunk, made_present_is_rejected) {
  EXPECT_EQ(lie.rows, present_rows + chunk_rows);
  EXPECT_EQ(part.statement.generated, prove_part(test, nullptr, statement_of()).statement.generated);
  const std::array<std::pair<const char*, IntegerTensor>, 2> values{
      {{"x", part.trace.view(lie.x_in.recorded)},
       {"y", part.trace.view(Recorded<std::int16_t>(lie.attention.y).recorded)}}};
  for (const auto& [what, tensor] : values) {  // rows that are absent are not zero
    std::visit(
        [&, what = what](const auto* all) {
          const std::span<const std::decay_t<decltype(all->values()[0])>> last = all->chunk(3);
          EXPECT_TRUE(std::ranges::any_of(last, [](auto value) { return value != 0; })) << what;
        },
        tensor);
  }
  expect_rejected(verify(test, part), "/lookup");
  // nothing but the number of the rows is false
  expect_accepted(verdict(lie));
}

/// A verifier that takes the chunk for present everywhere but in one layer: its constants, biases, 2^(S-1), epsilon,
/// INF, are those of present rows there.
TEST_P(AbsentChunk, is_absent_in_every_layer) {
  const bool is_llama = name != "gpt2";
  struct Lie {
    std::string scope;
    std::function<void(ModelPlan&)> mend;
  };
  const std::string norm = is_llama ? "rms_norm" : "layer_norm";
  for (const Lie& layer : std::vector<Lie>{
           {"/final/" + norm, [&](ModelPlan& plan) { plan.norm_final = honest.norm_final; }},
           {"/feed_forward/", [&](ModelPlan& plan) { plan.mlp = honest.mlp; }},
           {"/feed_forward/" + norm, [&](ModelPlan& plan) { plan.norm_2 = honest.norm_2; }},
           {"/self_attention/projection",
            [&](ModelPlan& plan) {
              plan.projection = honest.projection;
              const std::size_t remainder = plan.projection.remainder.range;
              plan.ranges[remainder].shape = honest.ranges[remainder].shape;
            }},
           {"/self_attention/attention", [&](ModelPlan& plan) { plan.attention = honest.attention; }},
           {"/self_attention/qkv", [&](ModelPlan& plan) { plan.qkv = honest.qkv; }},
           {"/self_attention/" + norm, [&](ModelPlan& plan) { plan.norm_1 = honest.norm_1; }},
       }) {
    SCOPED_TRACE(layer.scope);
    ModelPlan plan = lie;
    layer.mend(plan);
    const Verdict found = verdict(plan);
    EXPECT_FALSE(found.accepted);
    EXPECT_EQ(found.scope.substr(0, layer.scope.size()), layer.scope) << found.reason;
  }
  // rows of the embedding and of positions
  ModelPlan plan = lie;
  plan.rows = honest.rows;
  expect_rejected(verdict(plan), opening_scope);
  // look-ups
  plan = lie;
  plan.lookup = honest.lookup;
  expect_rejected(verdict(plan), "/lookup");
  // what is committed
  plan = lie;
  plan.witness_shapes = honest.witness_shapes;
  plan.witness_layout = honest.witness_layout;
  plan.witness_oracle = honest.witness_oracle;
  EXPECT_FALSE(verdict(plan).accepted);
}

INSTANTIATE_TEST_SUITE_P(Models, AbsentChunk, ::testing::Values("gpt2", "llama", "capped"),
                         [](const auto& model) { return model.param; });

// Tokens that rows choose which are absent, or filler: their logits are those of zeros, or the filler's.

TEST(Absent, rows_do_not_choose_tokens) {
  for (TestModel* test : {&gpt2(), &llama()}) {
    Statement statement = statement_of();  // generated: the first of equal logits
    const ModelPlan honest = ModelPlan::of(test->key, statement);
    Trace trace = run_one_pass(test->integers, honest, statement.prompt, statement.generated, test->comm);
    std::ranges::fill(trace[honest.logits.values].values(), 0);
    ModelPlan plan = honest;
    plan.prompt_length = present_rows + 1;  // the row before the first of them
    Forgery forgery(*test, statement, plan, std::move(trace));
    const Proof proof = forgery.prove();
    EXPECT_FALSE(verify_inference(test->key, statement, proof.payload).accepted);
    expect_accepted(verify_inference(plan, test->key, statement, proof.payload));
  }
}
TEST(Absent, filler_does_not_choose_tokens) {
  for (TestModel* test : {&gpt2(), &llama()}) {
    Statement statement = statement_of();
    const ModelPlan honest = ModelPlan::of(test->key, statement);
    ModelPlan plan = honest;
    plan.prompt_length = present_rows - generated_count + 1;
    // what the last rows choose does not depend on it, but for the tokens that are said to be generated
    for (int i = 0; i < 3; ++i) {
      IntegerTransformer transformer(test->integers, honest, Record::nothing, test->comm);
      transformer.append(row_tokens(honest, statement));
      statement.generated = transformer.select({present_rows - generated_count, present_rows}, 0);
    }
    Trace trace = run_one_pass(test->integers, honest, statement.prompt, statement.generated, test->comm);
    IntegerTransformer transformer(test->integers, honest, Record::trace, test->comm);
    transformer.append(row_tokens(honest, statement));
    ASSERT_EQ(transformer.select({present_rows - generated_count, present_rows}, 0), statement.generated);
    trace[honest.logits.values] = transformer.take_trace()[honest.logits.values];
    Forgery forgery(*test, statement, plan, std::move(trace));
    const Proof proof = forgery.prove();
    EXPECT_FALSE(verify_inference(test->key, statement, proof.payload).accepted);
    expect_accepted(verify_inference(plan, test->key, statement, proof.payload));
  }
}

// Filler in front.

TEST(Absent, filler_stands_behind_the_text) {
  for (TestModel* test : {&gpt2(), &llama()}) {
    const std::size_t filler = present_rows - prompt_length - generated_count;
    Statement longer{Ids(filler, test->key.filler), Ids(generated_count)};
    const Ids prompt = prompt_of(prompt_length);
    longer.prompt.insert(longer.prompt.end(), prompt.begin(), prompt.end());
    const ModelPlan plan = ModelPlan::of(test->key, PassShape::of(longer));
    Trace trace = run_inference(test->integers, plan, longer.prompt, test->comm);
    longer.generated = trace.generated_tokens();
    Statement told = statement_of();
    told.generated = longer.generated;
    ASSERT_TRUE(plan.shapes.block_feature == ModelPlan::of(test->key, told).shapes.block_feature);
    Forgery forgery(*test, longer, plan, std::move(trace));
    expect_accepted(verify_inference(test->key, longer, forgery.prove().payload));
    forgery.statement = told;
    EXPECT_FALSE(verify_inference(test->key, told, forgery.prove().payload).accepted);
    // told as it is: the filler is in the prompt
    forgery.statement.prompt = longer.prompt;
    expect_accepted(verdict_of(forgery));
  }
}

// Keys before the first row: 41 of them, two chunks and nine keys, then 17 rows.

const Part& before(TestModel& test) {
  static std::map<const TestModel*, Part> parts;
  if (!parts.contains(&test)) {
    parts.emplace(&test, prove_part(test, nullptr, prompt_of(prompt_length + 1), generated_count, true));
  }
  return parts.at(&test);
}

Part continuation(TestModel& test, const PlanChange& change = {}) {
  return prove_part(test, &before(test), prompt_of(14), 3, true, change);
}

TEST(Absent, continuations_are_accepted) {
  for (TestModel* test : {&gpt2(), &llama()}) {
    ASSERT_EQ(before(*test).kept->length, 41U);
    const Part part = continuation(*test);
    const ModelPlan plan = ModelPlan::of(test->key, part.statement);
    EXPECT_EQ(plan.rows, 24U);
    EXPECT_EQ(plan.passes.rows.chunk(), 8U);
    EXPECT_EQ(plan.passes.keys.chunk(), 16U);
    EXPECT_EQ(plan.passes.keys.chunk_count(), 5U);
    expect_accepted(verify(*test, part));
    EXPECT_EQ(part.kept->length, 41U + 17);
  }
}

/// Eight queries of one row after 28 positions, of which the fifth is the first to see a key of the fifth tile: without
/// that tile, or the one before it with it, which is masked or not.
TEST(Absent, a_tile_of_keys_is_neither_left_out_nor_added) {
  struct Lie {
    std::ptrdiff_t tiles, mask;
  };
  for (TestModel* test : {&gpt2(), &llama(), &capped()}) {
    const Part past = prove_part(*test, nullptr, prompt_of(26), 3, true);
    ASSERT_EQ(past.kept->length, 28U);
    const auto after = [&](const PlanChange& change) {
      Statement statement = statement_after(&past, prompt_of(5), false);
      statement.generated.resize(3);
      statement.pass_length = 1;
      return prove_part(*test, &past, std::move(statement), change);
    };
    expect_accepted(verify(*test, after({})));
    for (const auto& [tiles, mask] : {Lie{-1, -1}, Lie{1, 0}, Lie{1, 1}}) {
      std::optional<ModelPlan> lie;
      const Part part = after([&, tiles = tiles, mask = mask](ModelPlan& plan) {
        shift_tiles(plan, tiles);
        plan.attention.past += static_cast<std::size_t>(mask);
        lie = plan;
      });
      expect_rejected(verify(*test, part), "/lookup");
      if (mask < 0) {  // inference has not computed future keys
        expect_accepted(verify_inference(*lie, test->key, part.statement, part.payload));
      }
    }
  }
}

// States that are said to be longer.

TEST(Absent, a_state_does_not_start_a_chunk_later) {
  for (TestModel* test : {&gpt2(), &llama()}) {
    Part part = continuation(*test);
    part.statement.start->length += chunk_rows;
    EXPECT_FALSE(verify(*test, part).accepted);
    // zeros behind the end of the state are keys and values of what the part starts from then
    Part longer = before(*test);
    longer.kept->length += chunk_rows;
    Statement statement = statement_after(&longer, {5}, false);
    statement.generated.resize(2);
    part = prove_part(*test, &longer, statement);
    const auto from = [&](const std::optional<ConversationState>& kept) {
      return verify_continuation(test->key, part.statement, part.payload, kept);
    };
    expect_accepted(from(longer.kept));
    EXPECT_FALSE(from(before(*test).kept).accepted);
    part.statement.start = before(*test).kept;
    EXPECT_FALSE(from(before(*test).kept).accepted);
  }
}

/// Keys and values of filler are kept with those of the text.
TEST(Absent, a_state_does_not_keep_filler) {
  for (TestModel* test : {&gpt2(), &llama()}) {
    for (const bool continues : {false, true}) {
      std::optional<ModelPlan> lie;
      const auto keep_all = [&](ModelPlan& plan) {
        plan.kept_rows = plan.cache.added = plan.rows;
        lie = plan;
      };
      const Part part =
          continues ? continuation(*test, keep_all) : prove_part(*test, nullptr, statement_of(true), keep_all);
      expect_rejected(verify(*test, part),
                      test == &gpt2() ? "/self_attention/qkv/reduce" : "/self_attention/qkv/k/reduce");
      expect_accepted(verify_inference(*lie, test->key, part.statement, part.payload));
    }
  }
}

// Passes of another size than the statement's, but with its seed.

TEST(Absent, passes_are_as_long_as_the_statement_says) {
  for (TestModel* test : {&gpt2(), &llama()}) {
    for (const std::uint32_t told : {0, 32}) {
      for (const std::size_t made : {0, 8, 16, 32}) {
        const auto passes_of = [&](std::size_t length) {
          return Passes::of({.prompt = prompt_length, .generated = generated_count, .pass_length = length});
        };
        const Passes a = passes_of(told), b = passes_of(made);
        const bool same = a.rows == b.rows && a.queries == b.queries && a.keys == b.keys;
        EXPECT_EQ(same, told == made || (told == 0 && made == 16));
        const Part part = prove_part(*test, nullptr, statement_of(false, told), [&](ModelPlan& plan) {
          PassShape pass = plan.pass;
          pass.pass_length = made;
          plan = ModelPlan::of(test->key, pass);
        });
        EXPECT_EQ(verify(*test, part).accepted, same) << told << ", " << made;
      }
    }
  }
}

}  // namespace
}  // namespace tessera::test
