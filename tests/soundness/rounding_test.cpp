#include <gtest/gtest.h>

#include <functional>

#include "fixture.hpp"

namespace tessera::testing {
namespace {

constexpr std::size_t block = 1;
constexpr std::size_t row = 7;  // feature, or place in a head
constexpr std::size_t head = 2;

/// A value one too small. With 2^S added to its remainder the identity holds and the remainder is out of range;
/// otherwise the identity is false.
struct RoundingLie {
  std::string name;
  Stage stage;
  std::size_t at_block;
  std::function<void(Trace&)> lie;
  std::function<IntegerTensor(Trace&)> remainders;
  std::size_t remainder_outer;
  std::function<RangeCheck&(Plan&)> range;
  std::string scope;  // where the false identity shows
};

#define TESSERA_LOWER(values, outer) [=](Trace& t) { --trace_row(t.values, outer, row)[last_token]; }
#define TESSERA_REMAINDER(remainder)                             \
  [](Trace& t) -> IntegerTensor { return &t.remainder; }, block, \
      [](Plan& plan) -> RangeCheck& { return plan.remainder; }

std::vector<RoundingLie> rounding_lies() {
  const std::size_t outer = block * odd_model().model.shape.n_head + head;
  std::vector<RoundingLie> lies{
      {"u1", Stage::u1, block, TESSERA_LOWER(ln1.u, block), TESSERA_REMAINDER(ln1.u_remainder),
       "/self_attention/layer_norm"},
      {"u2", Stage::u2, block, TESSERA_LOWER(ln2.u, block), TESSERA_REMAINDER(ln2.u_remainder),
       "/feed_forward/layer_norm"},
      {"uf", Stage::uf, 0, TESSERA_LOWER(lnf.u, 0), TESSERA_REMAINDER(lnf.u_remainder), "/final/layer_norm"},
      {"q", Stage::q, block, TESSERA_LOWER(q, block), TESSERA_REMAINDER(q_remainder), "/self_attention/qkv/product"},
      {"k", Stage::k, block, TESSERA_LOWER(k, block), TESSERA_REMAINDER(k_remainder), "/self_attention/qkv/product"},
      {"v", Stage::v, block, TESSERA_LOWER(v, block), TESSERA_REMAINDER(v_remainder), "/self_attention/qkv/product"},
      {"score", Stage::score, block, [=](Trace& t) { --score_at(t.score, outer, last_token, 3); },
       TESSERA_REMAINDER(score_remainder), "/self_attention/attention/mask"},
      {"y", Stage::y, block, TESSERA_LOWER(y, outer), TESSERA_REMAINDER(y_remainder), "/self_attention/attention"},
      {"x_mid", Stage::x_mid, block, TESSERA_LOWER(x_mid, block), TESSERA_REMAINDER(o_remainder),
       "/self_attention/projection/product"},
      {"mlp", Stage::mlp, block, TESSERA_LOWER(mlp, block), TESSERA_REMAINDER(mlp_remainder),
       "/feed_forward/mlp/product"},
      {"x_next", Stage::x_out, 0, TESSERA_LOWER(x_in, 1), TESSERA_REMAINDER(mlp_out_remainder),
       "/feed_forward/mlp/product"},
      {"x_end", Stage::x_end, 0, TESSERA_LOWER(x_end, 0), TESSERA_REMAINDER(mlp_out_remainder),
       "/feed_forward/mlp/product"},
  };
  for (RoundingLie& lie : lies) {
    lie.remainder_outer = lie.name == "uf" || lie.name == "x_next" ? 0
                          : lie.name == "score" || lie.name == "y" ? outer
                                                                   : block;
  }
  return lies;
}

TEST(Rounding, FalseIdentityIsRejectedWhereItBelongs) {
  TestModel& test = odd_model();
  for (const RoundingLie& lie : rounding_lies()) {
    SCOPED_TRACE(lie.name);
    const Proof proof = prove_lie(test, odd_statement(), lie_at(lie.stage, lie.at_block, lie.lie));
    expect_rejected(verify_inference(test.key, odd_statement(), proof.payload), lie.scope);
  }
}

TEST(Rounding, RemainderOutsideItsRangeIsRejectedByItsWidthAlone) {
  TestModel& test = odd_model();
  for (const RoundingLie& lie : rounding_lies()) {
    SCOPED_TRACE(lie.name);
    const auto verdict_under = [&](const Plan& plan) {
      Forgery forgery(
          test, odd_statement(), plan,
          lying_inference(test.integers, odd_statement(), test.key.filler, lie_at(lie.stage, lie.at_block, lie.lie)));
      const RangeCheck& range = lie.range(forgery.plan);
      ChunkedTensor<std::int64_t>& remainders = forgery.copy(lie.remainders(forgery.trace));
      (lie.name == "score" ? score_at(remainders, lie.remainder_outer, last_token, 3)
                           : trace_row(remainders, lie.remainder_outer, row)[last_token]) += std::int64_t{1}
                                                                                             << range.width;
      forgery.set_range(range, remainders);
      forgery.recount();
      return verify_inference(plan, test.key, odd_statement(), forgery.prove().payload);
    };
    Plan wide = Plan::of(test.key, odd_statement());
    expect_rejected(verdict_under(wide), lookup_scope);
    widen(wide, lie.range(wide));
    expect_accepted(verdict_under(wide));
  }
}

}  // namespace
}  // namespace tessera::testing
