#include <gtest/gtest.h>

#include <algorithm>

#include "base/errors.hpp"
#include "integer_model/integer_model.hpp"

#include "fixture.hpp"

namespace tessera::test {
namespace {

/// An uncommitted copy of the model whose parameters may be changed.
struct Copy {
  Model model = odd_model().model;
  [[nodiscard]] IntegerModel integers() const { return integer_model(model); }
  [[nodiscard]] ParameterTensors tensors() const { return ParameterTensors::of(model.shape, model.parameters); }
};

/// What a model and a liar generate after a prompt.
std::vector<std::uint32_t> generate(const IntegerModel& model, std::vector<std::uint32_t> ids, std::size_t count,
                                    const Liar& liar) {
  std::vector<std::uint32_t> generated;
  while (generated.size() < count) {
    Trace trace = naive_inference(model, {ids, {0}}, liar);
    std::size_t best = 0;
    for (std::size_t v = 1; v < model.key.shape.n_vocab; ++v) {
      best =
          block_row(trace[odd_plan().logits.values], 0, v)[0] > block_row(trace[odd_plan().logits.values], 0, best)[0]
              ? v
              : best;
    }
    generated.push_back(static_cast<std::uint32_t>(best));
    ids.push_back(generated.back());
  }
  return generated;
}

Verdict verdict_on(const Statement& statement, Trace trace, const ParameterTensors& parameters) {
  TestModel& test = odd_model();
  Forgery forgery(test, statement, ModelPlan::of(test.key, statement), std::move(trace), parameters);
  return verify_inference(test.key, statement, forgery.prove().payload);
}

/// Everything follows from the copy's parameters; only the commitment says otherwise.
void expect_uncommitted(const Copy& copy, const std::string& name) {
  SCOPED_TRACE(name);
  const IntegerModel integers = copy.integers();
  const Statement statement{odd_prompt, generate(integers, odd_prompt, 2, {})};
  Trace trace = naive_inference(integers, statement);
  expect_rejected(verdict_on(statement, std::move(trace), copy.tensors()), opening_scope);
}

TEST(ModelLies, every_parameter_is_the_committed_one) {
  Copy copy;
  for (const ParameterRow& row : parameter_table(odd_model().model.shape)) {
    const std::span<std::int16_t> values = copy.model.parameters[row.id].values();
    // the position's of a token that is read
    std::int16_t& value = values[row.id == position ? 3 * copy.model.shape.n_embd + 1 : values.size() / 2];
    ++value;
    expect_uncommitted(copy, std::string(row.name));
    --value;
  }
}

/// A liar whose norms have another gain until what they add up to is sent: from then on he proves with the committed
/// one.
TEST(ModelLies, weighed_features_are_those_of_the_committed_gain) {
  if (hiding_proofs > 0) {
    GTEST_SKIP() << "listeners are of a plain key's prover";
  }
  TestModel& test = odd_model();
  Copy copy;
  for (const auto& [gain, layer] : std::vector<std::pair<ParameterId, std::string>>{
           {gamma1, "/self_attention"}, {gamma2, "/feed_forward"}, {gammaf, "/final"}}) {
    SCOPED_TRACE(layer);
    const std::span<std::int16_t> values = copy.model.parameters[gain].values();
    std::int16_t& value = values[values.size() / 2];
    ++value;
    const IntegerModel integers = copy.integers();
    const Statement statement{odd_prompt, generate(integers, odd_prompt, 2, {})};
    const ParameterTensors tensors = copy.tensors();
    Forgery forgery(test, statement, ModelPlan::of(test.key, statement), naive_inference(integers, statement), tensors);
    const std::string scope = layer + "/layer_norm/gain";
    forgery.listener.begins = [&](std::string_view path) {
      if (path == scope) {
        forgery.witness->parameters = test.parameters.views();
      }
    };
    expect_rejected(verify_inference(test.key, statement, forgery.prove().payload), scope);
    --value;
  }
}

TEST(ModelLies, swapped_blocks_are_rejected) {
  Copy copy;
  for (const ParameterRow& row : parameter_table(odd_model().model.shape)) {
    if (row.per_block) {
      ASSERT_EQ(copy.model.shape.n_layer, 2U);
      const std::span<std::int16_t> values = copy.model.parameters[row.id].values();
      std::ranges::swap_ranges(values.first(values.size() / 2), values.last(values.size() / 2));
    }
  }
  expect_uncommitted(copy, "blocks");
}

/// A liar whose own continuation is claimed, so that nothing but his lie is false.
void expect_lie_rejected(const Liar& liar, const std::string& scope) {
  const Statement statement{odd_prompt, generate(odd_model().integers, odd_prompt, 2, liar)};
  expect_rejected(verdict_on(statement, naive_inference(odd_model().integers, statement, liar), odd_model().parameters),
                  scope);
}

TEST(ModelLies, wrong_input_rows_are_rejected) {
  const std::size_t d = odd_model().model.shape.n_embd;
  const Parameters& p = odd_model().model.parameters;
  struct Lie {
    std::string name;
    std::size_t token;
    std::function<int(std::size_t f)> change;
  };
  const auto row = [&](std::size_t id, std::size_t f) { return p[embedding].values()[id * d + f]; };
  const auto place = [&](std::size_t t, std::size_t f) { return p[position].values()[t * d + f]; };
  for (const Lie& lie :
       {Lie{"row of another token", 3, [&](std::size_t f) { return row(100, f) - row(99, f); }},
        Lie{"another filler", last_token, [&](std::size_t f) { return row(1, f) - row(299, f); }},
        Lie{"shifted position", 3, [&](std::size_t f) { return place(4, f) - place(3, f); }},
        Lie{"shifted position of a filler", last_token, [&](std::size_t f) { return place(14, f) - place(15, f); }},
        Lie{"off by one", 0, [](std::size_t f) { return f == 35 ? 1 : 0; }}}) {
    SCOPED_TRACE(lie.name);
    expect_lie_rejected(lie_at(Stage::x_in, 0,
                               [&](Trace& trace) {
                                 for (std::size_t f = 0; f < d; ++f) {
                                   block_row(trace[odd_plan().x_in], 0, f)[lie.token] += lie.change(f);
                                 }
                               }),
                        opening_scope);
  }
}

/// Values in the padding of the feature dimension, where every tensor of the model is zero.
TEST(ModelLies, padding_features_are_zero) {
  const ModelPlan& plan = odd_plan();
  const auto pad = [](Stage stage, std::size_t at, const auto& tensor) {
    return lie_at(stage, at, [=](Trace& trace) { block_row(trace[tensor], at, 40)[last_token] = 1; });
  };
  expect_lie_rejected(pad(Stage::x_in, 0, plan.x_in), "/self_attention/projection/product");
  expect_lie_rejected(pad(Stage::x_mid, 1, plan.x_mid), "/feed_forward/mlp/product");
  expect_lie_rejected(pad(Stage::q, 1, gpt2_qkv(plan.qkv).value[0]), "/self_attention/qkv/product");
  expect_lie_rejected(pad(Stage::v, 1, gpt2_qkv(plan.qkv).value[2]), "/self_attention/qkv/product");
  expect_lie_rejected(pad(Stage::uf, 0, layer_norm(plan.norm_final).u), "/final/layer_norm");
  // places 12 .. 15 of a head
  expect_lie_rejected(
      lie_at(Stage::y, 1, [](Trace& trace) { head_row(trace[odd_plan().attention.y], 4, 13)[last_token] = 1; }),
      "/self_attention/attention");
}

template <class T>
void swap_rows(const TokenRow<T>& a, const TokenRow<T>& b) {
  for (std::size_t t = 0; t < odd_tokens; ++t) {
    std::swap(a[t], b[t]);
  }
}

TEST(ModelLies, swapped_heads_and_places_are_rejected) {
  // heads 0 and 2 of block 1 exchange their q, k and v: attention itself stays consistent
  const auto swap_features = [](auto& tensor) {
    for (std::size_t f = 0; f < 12; ++f) {
      swap_rows(block_row(tensor, 1, f), block_row(tensor, 1, 24 + f));
    }
  };
  expect_lie_rejected(
      [&](Stage stage, std::size_t block, Trace& trace) {
        if (block != 1) {
          return;
        }
        if (stage == Stage::q) {
          swap_features(trace[gpt2_qkv(odd_plan().qkv).value[0]]);
          swap_features(trace[gpt2_qkv(odd_plan().qkv).remainder[0]]);
        } else if (stage == Stage::k) {
          swap_features(trace[gpt2_qkv(odd_plan().qkv).value[1]]);
          swap_features(trace[gpt2_qkv(odd_plan().qkv).remainder[1]]);
        } else if (stage == Stage::v) {
          swap_features(trace[gpt2_qkv(odd_plan().qkv).value[2]]);
          swap_features(trace[gpt2_qkv(odd_plan().qkv).remainder[2]]);
        }
      },
      "/self_attention/qkv/product");
  // y of two heads exchanged, and places permuted across heads and inside one
  for (const auto& [a, b] : {std::pair{std::pair{3, 5}, std::pair{5, 5}}, std::pair{std::pair{3, 11}, std::pair{4, 0}},
                             std::pair{std::pair{3, 2}, std::pair{3, 3}}}) {
    expect_lie_rejected(lie_at(Stage::y, 1,
                               [&, a = a, b = b](Trace& trace) {
                                 const auto at = [](auto& tensor, const std::pair<int, int>& place) {
                                   return head_row(tensor, static_cast<std::size_t>(place.first),
                                                   static_cast<std::size_t>(place.second));
                                 };
                                 swap_rows(at(trace[odd_plan().attention.y], a), at(trace[odd_plan().attention.y], b));
                                 swap_rows(at(trace[odd_plan().attention.y_remainder], a),
                                           at(trace[odd_plan().attention.y_remainder], b));
                               }),
                        "/self_attention/attention");
  }
}

}  // namespace
}  // namespace tessera::test
