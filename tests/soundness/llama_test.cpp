// Models of the Llama family through the whole protocol: honest proofs, other rules, other models, other bytes.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/errors.hpp"
#include "integer_model/integer_model.hpp"

#include "llama_fixture.hpp"
#include "parts.hpp"

namespace tessera::test {
namespace {

Part beginning(TestModel& test, const PlanChange& change = {}, const PlanChange& change_proof = {}) {
  return prove_part(test, nullptr, llama_prompt, llama_generated, true, change, {}, change_proof);
}
const Part& first(LlamaKind kind) {
  static std::map<LlamaKind, Part> parts;
  const auto found = parts.find(kind);
  return found != parts.end() ? found->second : parts.emplace(kind, beginning(llama_model(kind))).first->second;
}
/// 6 rows in passes of two after 6 positions.
Part continuation(LlamaKind kind, const PlanChange& change = {}, const PlanChange& change_proof = {}) {
  Statement statement = statement_after(&first(kind), {9, 2, 4}, true);
  statement.generated.resize(3);
  statement.pass_length = 2;
  return prove_part(llama_model(kind), &first(kind), std::move(statement), change, {}, change_proof);
}

class Llama : public ::testing::TestWithParam<LlamaKind> {
 protected:
  TestModel& test = llama_model(GetParam());
};

TEST_P(Llama, honest_proofs_are_accepted) {
  expect_accepted(verify(test, first(GetParam())));
  const Part part = continuation(GetParam());
  const Verdict verdict = verify_continuation(test.key, part.statement, part.payload, first(GetParam()).kept);
  expect_accepted(verdict);
  EXPECT_EQ(verdict.kept, part.kept);
  // that is what the lies' inference does without lies
  const ModelPlan plan = llama_plan(test.key);
  const LlamaLie honest = llama_inference(test, plan);
  EXPECT_EQ(honest.statement.generated, first(GetParam()).statement.generated);
  for (std::size_t i = 0; i < plan.recorded.size(); ++i) {
    EXPECT_TRUE(std::visit(
        [&](const auto& tensor) {
          return tensor.values() ==
                 std::get<std::decay_t<decltype(tensor)>>(first(GetParam()).trace.tensors[i]).values();
        },
        honest.trace.tensors[i]))
        << plan.recorded[i].name;
  }
}

TEST_P(Llama, every_altered_message_is_rejected) {
  Part part = continuation(GetParam());
  expect_altered_messages_rejected(test, part);
  const PayloadVerifier verdict_of(test, part.statement);
  std::mt19937_64 random(5);
  for (int i = 0; i < 200; ++i) {
    std::uint8_t& byte = part.payload.at(random() % part.payload.size());
    const auto change = static_cast<std::uint8_t>(1 + random() % 255);
    byte ^= change;
    EXPECT_FALSE(verdict_of(part.payload).accepted);
    byte ^= change;
  }
  expect_accepted(verdict_of(part.payload));
  expect_accepted(verify(test, part));
  for (const std::size_t size : {part.payload.size() - 1, part.payload.size() / 2, std::size_t{32}, std::size_t{0}}) {
    part.payload.resize(size);
    EXPECT_FALSE(verdict_of(part.payload).accepted) << size;
  }
}

/// Everything follows from other parameters; only the commitment says otherwise.
TEST_P(Llama, every_parameter_is_the_committed_one) {
  const ModelPlan plan = llama_plan(test.key);
  for (const ParameterRow& row : parameter_table(test.model.shape)) {
    SCOPED_TRACE(row.name);
    Parameters other = test.model.parameters;
    const std::span<std::int16_t> values = other[row.id].values();
    // the embedding's of a token that is read
    ++values[row.id == embedding ? 7 * test.model.shape.n_embd + 1 : values.size() / 2];
    LlamaLie lie = llama_inference(test, plan, {}, &other);
    const ParameterTensors tensors = ParameterTensors::of(test.model.shape, other);
    Forgery forgery(test, lie.statement, plan, std::move(lie.trace), tensors);
    expect_rejected(verify_inference(test.key, lie.statement, forgery.prove().payload), opening_scope);
  }
}

/// Logits, and so the chosen tokens, by the embedding where a head of its own is committed.
TEST(LlamaLies, logits_of_the_embedding_are_rejected) {
  TestModel& test = llama_model(biased);
  Parameters other = test.model.parameters;
  std::ranges::copy(other[embedding].values(), other[head].values().begin());
  LlamaLie lie = llama_inference(test, llama_plan(test.key), {}, &other);
  for (const ParameterTensors& tensors :
       {ParameterTensors::of(test.model.shape, other), ParameterTensors::of(test.model.shape, test.model.parameters)}) {
    Forgery forgery(test, lie.statement, llama_plan(test.key), lie.trace, tensors);
    EXPECT_FALSE(verify_inference(test.key, lie.statement, forgery.prove().payload).accepted);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Llama, ::testing::Values(plain, biased, normed));

// A pass that is computed by other rules and proven by them, or by the true ones.

struct Rule {
  const char* name;
  std::function<void(ModelPlan&)> change;
  std::string by_lie;    // where a proof by the lying plan fails
  std::string by_truth;  // where a proof by the true one does
};

void change_rotation(ModelPlan& plan, const std::function<void(std::vector<std::int16_t>&, const Rotary&)>& change) {
  Rotary& rotary = std::get<GroupedQkvPlan>(plan.qkv).rotary;
  auto table = std::make_shared<std::vector<std::int16_t>>(*rotary.tables);
  change(*table, rotary);
  rotary.tables = table;
}

const std::string qkv_scope = "/self_attention/qkv";
const std::string rotation_scope = qkv_scope + "/rotary";

std::vector<Rule> rotations(const std::string& before) {
  return {
      {"one position later", [](ModelPlan& plan) { ++std::get<GroupedQkvPlan>(plan.qkv).rotary.past; }, rotation_scope,
       before},
      {"one position earlier", [](ModelPlan& plan) { --std::get<GroupedQkvPlan>(plan.qkv).rotary.past; },
       rotation_scope, before},
      {"one entry of the table",
       [](ModelPlan& plan) {
         change_rotation(plan, [](auto& table, const Rotary& r) { table[(r.past + 2) * r.half + 1] ^= 1; });
       },
       rotation_scope, before},
      {"turned the other way",
       [](ModelPlan& plan) {
         change_rotation(plan, [](auto& table, const Rotary&) {
           std::for_each(table.begin() + static_cast<std::ptrdiff_t>(table.size() / 2), table.end(),
                         [](std::int16_t& sin) { sin = static_cast<std::int16_t>(-sin); });
         });
       },
       rotation_scope, before},
  };
}

void expect_rule_rejected(LlamaKind kind, const Rule& rule) {
  TestModel& test = llama_model(kind);
  for (const bool continues : {false, true}) {
    for (const bool truth : {false, true}) {
      SCOPED_TRACE(std::string(rule.name) + (continues ? ", continuation" : "") + (truth ? ", true proof" : ""));
      std::optional<ModelPlan> honest;
      const PlanChange change = [&](ModelPlan& plan) {
        honest = plan;
        rule.change(plan);
      };
      const PlanChange back = [&](ModelPlan& plan) {
        if (truth) {
          plan = *honest;
        }
      };
      const Part part = continues ? continuation(kind, change, back) : beginning(test, change, back);
      expect_rejected(verify(test, part), truth ? rule.by_truth : rule.by_lie);
    }
  }
}

TEST(LlamaLies, other_rotations_are_rejected) {
  for (const Rule& rule : rotations(qkv_scope + "/q/product")) {
    expect_rule_rejected(biased, rule);
  }
  for (const Rule& rule : rotations(qkv_scope + "/q/norm")) {
    expect_rule_rejected(normed, rule);
  }
}

TEST(LlamaLies, other_epsilons_are_rejected) {
  const auto rule = [](const char* name, const std::string& scope, const std::function<std::int64_t&(ModelPlan&)>& of) {
    return Rule{name, [of](ModelPlan& plan) { ++of(plan); }, scope, scope};
  };
  for (const Rule& lie : {rule(
                              "norm 1", "/self_attention/rms_norm/token",
                              [](ModelPlan & p) -> auto& { return std::get<RmsNormPlan>(p.norm_1).epsilon; }),
                          rule(
                              "norm 2", "/feed_forward/rms_norm/token",
                              [](ModelPlan & p) -> auto& { return std::get<RmsNormPlan>(p.norm_2).epsilon; }),
                          rule(
                              "final norm", "/final/rms_norm/token",
                              [](ModelPlan & p) -> auto& { return std::get<RmsNormPlan>(p.norm_final).epsilon; }),
                          rule(
                              "queries", qkv_scope + "/q/norm/token", [](ModelPlan & p) -> auto& {
                                return std::get<GroupedQkvPlan>(p.qkv).head_norm[0]->epsilon;
                              }),
                          rule(
                              "keys", qkv_scope + "/k/norm/token", [](ModelPlan & p) -> auto& {
                                return std::get<GroupedQkvPlan>(p.qkv).head_norm[1]->epsilon;
                              })}) {
    expect_rule_rejected(normed, lie);
  }
}

// States: keys are kept rotated, in dimensions of their own.

TEST_P(Llama, other_states_are_rejected) {
  struct Lie {
    const char* name;
    std::function<void(StateTensors&)> change;
    std::string scope;
  };
  const auto swap_halves = [](ChunkedTensor<std::int16_t>& tensor) {  // of the first head, or its rows
    const std::span<std::int16_t> values = tensor.chunk(0);
    std::swap_ranges(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                     values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  };
  const auto swap_heads = [](ChunkedTensor<std::int16_t>& tensor) {
    std::ranges::swap_ranges(tensor.chunk(0), tensor.chunk(1));
  };
  const Part& before = first(GetParam());
  for (const Lie& lie : {Lie{"halves of keys", [&](StateTensors& s) { swap_halves(s[state_keys]); }, "/k/reduce"},
                         Lie{"key heads", [&](StateTensors& s) { swap_heads(s[state_keys]); }, "/k/reduce"},
                         Lie{"halves of values", [&](StateTensors& s) { swap_halves(s[state_values]); }, "/v/reduce"},
                         Lie{"value heads", [&](StateTensors& s) { swap_heads(s[state_values]); }, "/v/reduce"}}) {
    SCOPED_TRACE(lie.name);
    Statement statement = statement_after(&before, {9, 2, 4}, true);
    statement.generated.resize(3);
    expect_rejected(
        verify(test, prove_part(test, &before, statement, {}, [&](Witness& witness) { lie.change(witness.kept); })),
        qkv_scope + lie.scope);
    // inference reads a false past; what is committed and opened is the true one
    Part lying = before;
    lie.change(lying.state);
    expect_rejected(
        verify(test, prove_part(test, &lying, statement, {}, [&](Witness& witness) { witness.past = before.state; })),
        qkv_scope + lie.scope);
  }
}

TEST(LlamaLies, masks_shifted_by_one_are_rejected) {
  for (const LlamaKind kind : {plain, biased, normed}) {
    for (const std::size_t by : {std::size_t{1}, static_cast<std::size_t>(-1)}) {
      const Part part = continuation(kind, [&](ModelPlan& plan) { plan.attention.past += by; });
      EXPECT_FALSE(verify(llama_model(kind), part).accepted);
    }
  }
}

// Another key: whatever differs is in its digest, which seeds the transcript, and where it is a rule, in the plan.

TEST(LlamaLies, other_keys_are_rejected) {
  struct Change {
    const char* name;
    std::function<void(VerifyingKey&)> change;
    bool a_rule = true;
  };
  TestModel& test = llama_model(normed);
  const Part& honest = first(normed);
  for (const Change& change :
       std::vector<Change>{{"epsilon", [](VerifyingKey& key) { ++key.epsilon; }},
                           {"epsilon_q", [](VerifyingKey& key) { ++key.epsilon_q; }},
                           {"epsilon_k", [](VerifyingKey& key) { ++key.epsilon_k; }},
                           {"product_bits", [](VerifyingKey& key) { --key.widths.product_bits; }},
                           {"final_bits", [](VerifyingKey& key) { --key.widths.final_bits; }},
                           {"gate_bits",
                            [](VerifyingKey& key) {  // the middle of the wider table is the narrower one
                              ++key.widths.gate_bits;
                              const std::size_t added = key.gelu_table.size() / 2;
                              key.gelu_table.insert(key.gelu_table.begin(), added, 0);
                              key.gelu_table.insert(key.gelu_table.end(), added, key.gelu_table.back());
                            }},
                           {"norm_shift", [](VerifyingKey& key) { --key.widths.norm_shift; }},
                           {"rotary_table", [](VerifyingKey& key) { --key.rotary_table[3]; }},
                           {"activation_table",
                            [](VerifyingKey& key) {  // but for 0, which padding has
                              for (std::size_t z = 1; z < key.gelu_table.size() / 2; ++z) {
                                key.gelu_table[key.gelu_table.size() / 2 + z] ^= 1;
                              }
                            }},
                           {"filler", [](VerifyingKey& key) { --key.filler; }},
                           {"equalisation", [](VerifyingKey& key) { ++key.equalisation.at("norm_1")[1]; }, false}}) {
    SCOPED_TRACE(change.name);
    VerifyingKey other = test.key;
    change.change(other);
    EXPECT_NE(other.digest(), test.key.digest());
    EXPECT_FALSE(verify_inference(other, honest.statement, honest.payload).accepted);
    // computed and proven by the other key, under its seed or the true one
    const IntegerModel model{other, &test.model.parameters};
    const ModelPlan plan = llama_plan(other);
    const Trace trace = run_inference(model, plan, llama_prompt, test.comm);
    const Statement statement{llama_prompt, trace.generated_tokens()};
    for (const VerifyingKey* seed : {&other, &test.key}) {
      const Proof proof = prove_inference(plan, *seed, statement, trace, {test.parameters, *test.codeword}, test.comm);
      const bool same = seed == &test.key && !change.a_rule;
      EXPECT_EQ(verify_inference(test.key, statement, proof.payload).accepted, same);
    }
  }
}

TEST(LlamaLies, other_flags_are_rejected) {
  for (const LlamaKind kind : {plain, biased, normed}) {
    for (bool ModelShape::*flag : {&ModelShape::tied, &ModelShape::qkv_bias, &ModelShape::head_norm}) {
      Model model = llama_model(kind).model;  // sizes and tables of a model with the flag
      model.shape.*flag = !(model.shape.*flag);
      VerifyingKey other = llama_model(kind).key;
      other.shape = model.shape;
      other.exponents[scales::hq] = other.exponents[scales::hk] = 11;
      other.exponents[gamma_q] = other.exponents[gamma_k] = 12;
      other.exponents[head] = model.shape.tied ? 0 : 14;
      other.epsilon_q = make_verifying_key(llama_model(normed).model).epsilon_q;
      other.epsilon_k = make_verifying_key(llama_model(normed).model).epsilon_k;
      EXPECT_FALSE(verify_inference(other, first(kind).statement, first(kind).payload).accepted);
    }
  }
}

}  // namespace
}  // namespace tessera::test
