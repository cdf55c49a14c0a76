// Values that a list names: each is at its limit, and far keys have no weight.

#include <gtest/gtest.h>

#include "saturation_runs.hpp"

namespace tessera::test {
namespace {

/// A value in range is given away for an entry: only the claim that it is at its limit sees it.
TEST(Saturation, a_listed_value_is_at_its_limit) {
  struct Lie {
    Stage stage;
    std::string list, scope;
    std::function<void(Trace&, std::uint64_t place, int by)> change;  // of the value in the last block
  };
  const ModelPlan& plan = odd_plan();
  const auto change = [&](const auto& tensor, const std::string& name) {
    return [&plan, &tensor, list = list_number(plan, name)](Trace& trace, std::uint64_t place, int by) {
      const auto [chunk, inner] = chunk_place(plan.clamped[list].shape, place);
      auto& value = trace[tensor].chunk(chunk)[inner];
      value = static_cast<std::decay_t<decltype(value)>>(value + by);
    };
  };
  const std::vector<Lie> lies{
      {Stage::u1, "layer_norm_1/u", "/self_attention/layer_norm/reduce",
       change(layer_norm(plan.norm_1).u, "layer_norm_1/u")},
      {Stage::u2, "layer_norm_2/u", "/feed_forward/layer_norm/reduce",
       change(layer_norm(plan.norm_2).u, "layer_norm_2/u")},
      {Stage::uf, "layer_norm_final/u", "/final/layer_norm/reduce",
       change(layer_norm(plan.norm_final).u, "layer_norm_final/u")},
      {Stage::q, "q", "/self_attention/qkv/reduce", change(gpt2_qkv(plan.qkv).value[0], "q")},
      {Stage::k, "k", "/self_attention/qkv/reduce", change(gpt2_qkv(plan.qkv).value[1], "k")},
      {Stage::v, "v", "/self_attention/qkv/reduce", change(gpt2_qkv(plan.qkv).value[2], "v")},
      {Stage::mlp, "mlp", "/feed_forward/mlp/reduce", change(gpt2_mlp(plan.mlp).z, "mlp")},
      {Stage::x_mid, "x_mid", "/self_attention/projection/x_mid/reduce", change(plan.x_mid, "x_mid")},
  };
  for (const Lie& lie : lies) {
    for (const int by : {-1, 3}) {
      SCOPED_TRACE(lie.list + " " + std::to_string(by));
      const ClampedTensor& tensor = plan.clamped[list_number(plan, lie.list)];
      // the last block, its last row but one, the last token: filler
      const std::uint64_t place = place_count(tensor.shape) - 1 - odd_tokens;
      const Liar liar = lie_at(lie.stage, lie.stage == Stage::uf ? 0 : 1, [&](Trace& trace) {
        lie.change(trace, place, by);
        trace.exceptions[list_number(plan, lie.list)] = {{place, -by}};
      });
      Forgery forgery(odd_model(), odd_statement(), plan, odd_trace(liar));
      expect_rejected(verdict_of(forgery), lie.scope);
    }
  }
}

/// x_in of block 1 and x_end.
TEST(Saturation, a_listed_residual_is_at_its_limit) {
  const ModelPlan& plan = odd_plan();
  for (const std::string name : {"x_in", "x_end"}) {
    SCOPED_TRACE(name);
    const std::size_t list = list_number(plan, name);
    const bool end = name == "x_end";
    const ClampedTensor& tensor = plan.clamped[list];
    const std::uint64_t place = place_count(tensor.shape) - 1;
    const Liar liar = lie_at(Stage::x_out, end ? 1 : 0, [&](Trace& trace) {
      const auto [chunk, inner] = chunk_place(tensor.shape, place);
      trace[end ? plan.x_end : plan.x_in].chunk(chunk)[inner] += 5;
      trace.exceptions[list] = {{place, -5}};
    });
    Forgery forgery(odd_model(), odd_statement(), plan, odd_trace(liar));
    expect_rejected(verdict_of(forgery), "/feed_forward/mlp/" + name + "/reduce");
  }
}

/// A visible key is moved nearer for an entry: e is not 0 where it is listed.
TEST(Saturation, listed_keys_have_no_weight) {
  const ModelPlan& plan = odd_plan();
  const AttentionPlan& attention = plan.attention;
  const std::size_t list = list_number(plan, "far");
  constexpr std::size_t query = 15;
  constexpr std::int64_t by = 2;                                 // by which it is nearer
  const std::size_t outer = odd_model().model.shape.n_head + 1;  // of block 1
  const std::vector<std::int32_t>& table = odd_model().integers.key.exp_table;
  std::size_t key = 0;
  std::int64_t distance = 0;
  const Liar liar = lie_at(Stage::exponential, 1, [&](Trace& trace) {
    for (;; ++key) {
      ASSERT_LT(key, query);
      distance = trace[attention.row_max].values()[outer * odd_tokens + query] -
                 score_at(trace[attention.score], outer, query, key) - by;
      if (distance > 0 && distance < std::ssize(table) && table[static_cast<std::size_t>(distance)] > 0) {
        break;
      }
    }
    score_at(trace[attention.exponential], outer, query, key) = table[static_cast<std::size_t>(distance)];
  });
  Forgery forgery(odd_model(), odd_statement(), plan, odd_trace(liar));
  const std::uint64_t place = (outer * odd_tokens + query) * odd_tokens + key;
  forgery.witness->exceptions[list] = {{place, by}};
  const auto [chunk, inner] = chunk_place(attention.scores, place);
  forgery.set_input(attention.exponential, chunk, inner, static_cast<std::uint32_t>(distance));
  forgery.recount();
  expect_rejected(verdict_of(forgery), "/self_attention/attention/far/reduce");
}

/// A near key is pushed out of sight by an entry that is negative: only its sign is in the way.
TEST(Saturation, keys_are_not_pushed_away) {
  const ModelPlan& plan = odd_plan();
  const AttentionPlan& attention = plan.attention;
  const std::size_t list = list_number(plan, "far");
  constexpr std::size_t query = 15, key = 14;
  constexpr std::int64_t away = 70000;                           // where the table has 0
  const std::size_t outer = odd_model().model.shape.n_head + 1;  // of block 1
  std::int64_t distance = 0;
  bool nearest = false;
  const Liar liar = lie_at(Stage::exponential, 1, [&](Trace& trace) {
    distance = trace[attention.row_max].values()[outer * odd_tokens + query] -
               score_at(trace[attention.score], outer, query, key);
    nearest = distance == 0;
    score_at(trace[attention.exponential], outer, query, key) = 0;
  });
  Forgery forgery(odd_model(), odd_statement(), plan, odd_trace(liar));
  ASSERT_FALSE(nearest);
  const std::uint64_t place = (outer * odd_tokens + query) * odd_tokens + key;
  forgery.witness->exceptions[list] = {{place, distance - away}};
  const auto [chunk, inner] = chunk_place(attention.scores, place);
  forgery.set_input(attention.exponential, chunk, inner, static_cast<std::uint32_t>(away));
  forgery.recount();
  const Verdict verdict = verdict_of(forgery);
  expect_rejected(verdict, "/");
  EXPECT_EQ(verdict.reason, "an exception within the range");
}

}  // namespace
}  // namespace tessera::test
