#include <gtest/gtest.h>

#include "fixture.hpp"

namespace tessera::testing {
namespace {

// Tensors that are not committed: what the look-up sees, what one layer computes and what the next one uses must be
// one.

Trace honest_trace() { return lying_inference(odd_model().integers, odd_statement(), odd_model().key.filler, {}); }

Forgery forge(Trace trace) {
  return {odd_model(), odd_statement(), Plan::of(odd_model().key, odd_statement()), std::move(trace)};
}

Verdict verdict_of(Forgery& forgery) {
  return verify_inference(odd_model().key, odd_statement(), forgery.prove().payload);
}

struct VirtualTensor {
  std::string name;
  IntegerTensor Witness::*tensor;
  std::function<const RangeCheck&(const Plan&)> range;
  std::string scope;
};

std::vector<VirtualTensor> virtual_tensors() {
  return {{"u1", &Witness::u1, [](const Plan& p) -> auto& {return p.ln1.u;
}
, "/self_attention/layer_norm/reduce"
}  // namespace
, {"u2", &Witness::u2, [](const Plan& p) -> auto& {return p.ln2.u;
}  // namespace tessera::testing
, "/feed_forward/layer_norm/reduce"
}
, {"uf", &Witness::uf, [](const Plan& p) -> auto& {return p.lnf.u;
}
, "/final/layer_norm/reduce"
}
, {"q", &Witness::q, [](const Plan& p) -> auto& {return p.q;
}
, "/self_attention/qkv/reduce"
}
, {"k", &Witness::k, [](const Plan& p) -> auto& {return p.k;
}
, "/self_attention/qkv/reduce"
}
, {"v", &Witness::v, [](const Plan& p) -> auto& {return p.v;
}
, "/self_attention/qkv/reduce"
}
, {
  "y", &Witness::y, [](const Plan& p) -> auto& { return p.y; }
  , "/self_attention/attention/reduce"
}
}
;
}

TEST(VirtualTensors, RangeCheckedValueIsTheOneInUse) {
  for (const VirtualTensor& lie : virtual_tensors()) {
    SCOPED_TRACE(lie.name);
    Forgery forgery = forge(honest_trace());
    ChunkedTensor<std::int64_t>& changed = forgery.copy((*forgery.witness).*lie.tensor);
    ++changed.values()[last_token];
    forgery.set_range(lie.range(forgery.plan), changed);
    forgery.recount();
    expect_rejected(verdict_of(forgery), lie.scope);
  }
}

/// A value without its range: the layers use one that no look-up sees.
TEST(VirtualTensors, ValueSumIsTheProductOfWeightsAndValues) {
  const Trace trace =
      lying_inference(odd_model().integers, odd_statement(), odd_model().key.filler,
                      lie_at(Stage::value_sum, 1, [](Trace& t) { ++trace_row(t.value_sum, 4, 7)[last_token]; }));
  Forgery forgery = forge(trace);
  expect_rejected(verdict_of(forgery), "/self_attention/attention/values");
}

/// Scores of other queries or keys than those that the projection gave.
TEST(VirtualTensors, ScoresAreProductsOfTheseQueriesAndKeys) {
  for (const bool query : {true, false}) {
    SCOPED_TRACE(query);
    ChunkedTensor<std::int16_t> Trace::*const tensor = query ? &Trace::q : &Trace::k;
    const Stage stage = query ? Stage::q : Stage::k;
    // the trace, and with it the prover's scores, has another value than the projection
    Forgery forgery =
        forge(lying_inference(odd_model().integers, odd_statement(), odd_model().key.filler,
                              lie_at(stage, 1, [&](Trace& t) { trace_row(t.*tensor, 1, 7)[last_token] += 9; })));
    ChunkedTensor<std::int64_t>& projected = forgery.copy(&(forgery.trace.*tensor));
    trace_row(projected, 1, 7)[last_token] -= 9;
    (*forgery.witness).*(query ? &Witness::q : &Witness::k) = &projected;
    forgery.set_range(query ? forgery.plan.q : forgery.plan.k, projected);
    forgery.recount();
    expect_rejected(verdict_of(forgery), "/self_attention/attention/scores");
  }
}

/// Sums of squares are sent, not committed: the two identities that use them must agree.
TEST(VirtualTensors, SumOfSquaresIsBound) {
  // sigma and its remainder as if the variance were one larger
  Forgery forgery = forge(honest_trace());
  const LayerNormPlan& norm = forgery.plan.lnf;
  ChunkedTensor<std::int64_t>& remainder = forgery.zeros(norm.token);
  ChunkedTensor<std::int64_t>& complement = forgery.zeros(norm.token);
  for (std::size_t t = 0; t < odd_tokens; ++t) {
    std::int64_t v = forgery.plan.constants.epsilon;
    const std::int64_t sigma = forgery.trace.lnf.sigma.values()[t];
    for (std::size_t f = 0; f < odd_model().model.shape.n_embd; ++f) {
      const std::int64_t x = trace_row(forgery.trace.x_end, 0, f)[t] - forgery.trace.lnf.mu.values()[t];
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
  ++forgery.witness->square_sums[norm.number][last_token];
  expect_rejected(verdict_of(forgery), "/final/layer_norm");
}

}  // namespace
}  // namespace tessera::testing
