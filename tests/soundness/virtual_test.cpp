#include <gtest/gtest.h>

#include "fixture.hpp"

namespace tessera::test {
namespace {

// Tensors that are not committed: what the look-up sees, what one layer computes and what the next one uses must be
// one.

/// What the look-up sees differs from what the layers use.
template <class T>
void expect_bound(std::string_view name, const RecordedRange<T>& tensor, const std::string& scope) {
  SCOPED_TRACE(name);
  Forgery forgery = odd_forgery();
  ChunkedTensor<std::int64_t>& changed = forgery.copy(forgery.witness->view(tensor));
  ++changed.values()[last_token];
  forgery.set_range(tensor, changed);
  forgery.recount();
  expect_rejected(verdict_of(forgery), scope);
}

TEST(VirtualTensors, range_checked_value_is_the_one_in_use) {
  const ModelPlan& plan = odd_plan();
  expect_bound("u1", layer_norm(plan.norm_1).u, "/self_attention/layer_norm/reduce");
  expect_bound("u2", layer_norm(plan.norm_2).u, "/feed_forward/layer_norm/reduce");
  expect_bound("uf", layer_norm(plan.norm_final).u, "/final/layer_norm/reduce");
  for (std::size_t i = 0; i < 3; ++i) {
    expect_bound(qkv_names[i], gpt2_qkv(plan.qkv).value[i], "/self_attention/qkv/reduce");
  }
  expect_bound("y", plan.attention.y, "/self_attention/attention/reduce");
}

/// A value without its range: the layers use one that no look-up sees.
TEST(VirtualTensors, value_sum_is_the_product_of_weights_and_values) {
  const Trace trace = odd_trace(
      lie_at(Stage::value_sum, 1, [](Trace& t) { ++head_row(t[odd_plan().attention.value_sum], 4, 7)[last_token]; }));
  Forgery forgery = odd_forgery(trace);
  expect_rejected(verdict_of(forgery), "/self_attention/attention/values");
}

/// Scores of other queries or keys than those that the projection gave.
TEST(VirtualTensors, scores_are_products_of_these_queries_and_keys) {
  for (const bool query : {true, false}) {
    SCOPED_TRACE(query);
    const RecordedRange<std::int16_t>& tensor = gpt2_qkv(odd_plan().qkv).value[query ? 0 : 1];
    const Stage stage = query ? Stage::q : Stage::k;
    // the trace, and with it the prover's scores, has another value than the projection
    Forgery forgery =
        odd_forgery(odd_trace(lie_at(stage, 1, [&](Trace& t) { block_row(t[tensor], 1, 7)[last_token] += 9; })));
    ChunkedTensor<std::int64_t>& projected = forgery.copy(forgery.witness->view(tensor));
    block_row(projected, 1, 7)[last_token] -= 9;
    forgery.witness->recorded[tensor.recorded] = &projected;
    forgery.set_range(tensor, projected);
    forgery.recount();
    expect_rejected(verdict_of(forgery), "/self_attention/attention/scores");
  }
}

/// Sums of squares are sent, not committed: the two identities that use them must agree.
TEST(VirtualTensors, sum_of_squares_is_bound) {
  // sigma and its remainder as if the variance were one larger
  Forgery forgery = odd_forgery();
  const LayerNormPlan& norm = layer_norm(forgery.plan.norm_final);
  ChunkedTensor<std::int64_t>& remainder = forgery.zeros(norm.token);
  ChunkedTensor<std::int64_t>& complement = forgery.zeros(norm.token);
  for (std::size_t t = 0; t < odd_tokens; ++t) {
    std::int64_t v = forgery.plan.constants.epsilon;
    const std::int64_t sigma = forgery.trace[norm.sigma].values()[t];
    for (std::size_t f = 0; f < odd_model().model.shape.n_embd; ++f) {
      const std::int64_t x = block_row(forgery.trace[norm.x], 0, f)[t] - forgery.trace[norm.mu].values()[t];
      v += x * x;
    }
    const std::int64_t honest = v - sigma * sigma;
    remainder.values()[t] = honest + (t == last_token ? 1 : 0);
    complement.values()[t] = 2 * sigma - remainder.values()[t];
  }
  forgery.set_range(norm.root_remainder, remainder);
  forgery.set_range(norm.root_complement, complement);
  forgery.recount();
  expect_rejected(verdict_of(forgery), "/final/layer_norm/token");
  // with a sum of squares to match, only the values of x stand against it
  ++(*forgery.witness)[norm.square_sum].values()[last_token];
  expect_rejected(verdict_of(forgery), "/final/layer_norm/squares");
}

}  // namespace
}  // namespace tessera::test
