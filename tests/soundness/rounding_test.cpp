#include <gtest/gtest.h>

#include <functional>

#include "fixture.hpp"

namespace tessera::test {
namespace {

constexpr std::size_t lied_row = 7;  // feature, or place in a head

/// A value one too small. With 2^S added to its remainder the identity holds and the remainder is out of range;
/// otherwise the identity is false.
struct RoundingLie {
  std::string name;
  Stage stage;
  std::size_t at_block;
  std::function<void(Trace&)> lie;
  std::size_t remainder;  // number of its recorded tensor
  RangeId range;
  std::size_t remainder_outer;
  std::string scope;  // where the false identity shows
};

template <class T>
std::function<void(Trace&)> lower(const Recorded<T>& values, std::size_t outer) {
  return [=](Trace& t) { --block_row(t[values], outer, lied_row)[last_token]; };
}

std::vector<RoundingLie> rounding_lies() {
  const ModelPlan& plan = odd_plan();
  const AttentionPlan& attention = plan.attention;
  const std::size_t outer = lied_block * odd_model().model.shape.n_head + lied_head;
  std::vector<RoundingLie> lies;
  const auto add = [&](const std::string& name, Stage stage, std::size_t at, std::function<void(Trace&)> lie,
                       const auto& remainder, std::size_t remainder_outer, const char* scope) {
    lies.push_back({name, stage, at, std::move(lie), remainder.recorded, remainder, remainder_outer, scope});
  };
  add("u1", Stage::u1, lied_block, lower(layer_norm(plan.norm_1).u, lied_block), layer_norm(plan.norm_1).u_remainder,
      lied_block, "/self_attention/layer_norm");
  add("u2", Stage::u2, lied_block, lower(layer_norm(plan.norm_2).u, lied_block), layer_norm(plan.norm_2).u_remainder,
      lied_block, "/feed_forward/layer_norm");
  add("uf", Stage::uf, 0, lower(layer_norm(plan.norm_final).u, 0), layer_norm(plan.norm_final).u_remainder, 0,
      "/final/layer_norm");
  for (const auto& [i, stage] : {std::pair{0U, Stage::q}, std::pair{1U, Stage::k}, std::pair{2U, Stage::v}}) {
    add(qkv_names[i], stage, lied_block, lower(gpt2_qkv(plan.qkv).value[i], lied_block),
        gpt2_qkv(plan.qkv).remainder[i], lied_block, "/self_attention/qkv/product");
  }
  add(
      "score", Stage::score, lied_block, [=](Trace& t) { --score_at(t[attention.score], outer, last_token, 3); },
      attention.score_remainder, outer, "/self_attention/attention/mask");
  add(
      "y", Stage::y, lied_block, [=](Trace& t) { --head_row(t[attention.y], outer, lied_row)[last_token]; },
      attention.y_remainder, outer, "/self_attention/attention");
  add("x_mid", Stage::x_mid, lied_block, lower(plan.x_mid, lied_block), plan.projection.remainder, lied_block,
      "/self_attention/projection/product");
  add("mlp", Stage::mlp, lied_block, lower(gpt2_mlp(plan.mlp).z, lied_block), gpt2_mlp(plan.mlp).remainder, lied_block,
      "/feed_forward/mlp/product");
  add("x_next", Stage::x_out, 0, lower(plan.x_in, 1), gpt2_mlp(plan.mlp).out_remainder, 0, "/feed_forward/mlp/product");
  add("x_end", Stage::x_end, 0, lower(plan.x_end, 0), gpt2_mlp(plan.mlp).out_remainder, lied_block,
      "/feed_forward/mlp/product");
  return lies;
}

TEST(Rounding, false_identity_is_rejected_where_it_belongs) {
  TestModel& test = odd_model();
  for (const RoundingLie& lie : rounding_lies()) {
    SCOPED_TRACE(lie.name);
    const Proof proof = prove_lie(test, odd_statement(), lie_at(lie.stage, lie.at_block, lie.lie));
    expect_rejected(verify_inference(test.key, odd_statement(), proof.payload), lie.scope);
  }
}

TEST(Rounding, remainder_outside_its_range_is_rejected_by_its_width_alone) {
  TestModel& test = odd_model();
  for (const RoundingLie& lie : rounding_lies()) {
    SCOPED_TRACE(lie.name);
    const auto verdict_under = [&](const ModelPlan& plan) {
      Forgery forgery(test, odd_statement(), plan, odd_trace(lie_at(lie.stage, lie.at_block, lie.lie)));
      ChunkedTensor<std::int64_t>& remainders = forgery.copy(forgery.trace.view(lie.remainder));
      std::int64_t& place = lie.name == "score" ? score_at(remainders, lie.remainder_outer, last_token, 3)
                            : lie.name == "y"   ? head_row(remainders, lie.remainder_outer, lied_row)[last_token]
                                                : block_row(remainders, lie.remainder_outer, lied_row)[last_token];
      place += std::int64_t{1} << odd_plan().ranges[lie.range.range].width;
      forgery.set_range(lie.range, remainders);
      forgery.recount();
      return verify_inference(plan, test.key, odd_statement(), forgery.prove().payload);
    };
    ModelPlan wide = odd_plan();
    expect_rejected(verdict_under(wide), lookup_scope);
    widen(wide, lie.range);
    expect_accepted(verdict_under(wide));
  }
}

}  // namespace
}  // namespace tessera::test
