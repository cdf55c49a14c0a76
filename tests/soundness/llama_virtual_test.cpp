#include <gtest/gtest.h>

#include "llama_fixture.hpp"

namespace tessera::test {
namespace {

// Values of Llama models that are rounded and not committed: what the look-up sees, and the layers after it use, must
// be one.

/// Layers use honest values; the look-up sees `by` more at one place, which is in its table as well. Every other
/// message is an honest one, so only the look-up's claim in the reduction of the claims on the value can notice.
Verdict verdict_on_look_up(TestModel& test, RangeId range, std::size_t recorded, std::int64_t by) {
  const ModelPlan plan = llama_plan(test.key);
  LlamaLie honest = llama_inference(test, plan);
  Forgery forgery(test, std::move(honest.statement), plan, std::move(honest.trace));
  ChunkedTensor<std::int64_t>& seen = forgery.copy(forgery.witness->recorded[recorded]);
  std::int64_t& value = seen.values()[filler_row];
  value += value > 0 ? -by : by;
  forgery.set_range(range, seen);
  forgery.recount();
  return verdict_of(forgery, plan);
}

TEST(LlamaVirtualTensors, value_that_the_look_up_sees_is_the_one_in_use) {
  for (const LlamaKind kind : {plain, biased, normed}) {
    TestModel& test = llama_model(kind);
    const ModelPlan plan = llama_plan(test.key);
    const GroupedQkvPlan& qkv = grouped_qkv(plan);
    struct Value {
      std::string name;
      RangeId range;
      std::size_t recorded;
      std::string scope;
    };
    const auto norm = [](const char* name, const NormLayer& layer, const char* scope) {
      return Value{name, rms_norm(layer).output(), rms_norm(layer).output().values.number, scope};
    };
    const auto value = [](std::string name, const RecordedRange<std::int16_t>& tensor, std::string scope) {
      return Value{std::move(name), tensor, tensor.recorded, std::move(scope)};
    };
    std::vector<Value> values{
        norm("u1", plan.norm_1, "/self_attention/rms_norm"), norm("u2", plan.norm_2, "/feed_forward/rms_norm"),
        norm("uf", plan.norm_final, "/final/rms_norm"), value("y", plan.attention.y, "/self_attention/attention")};
    for (std::size_t i = 0; i < qkv.value.size(); ++i) {
      const std::string scope = std::string("/self_attention/qkv/") + qkv_names[i];
      values.push_back(value(qkv_names[i], qkv.value[i], scope));
      if (i < qkv.head_norm.size() && qkv.head_norm[i]) {
        values.push_back(value(std::string("h of ") + qkv_names[i], qkv.head_norm[i]->h, scope + "/norm"));
      }
    }
    EXPECT_EQ(values.size(), kind == normed ? 9U : 7U);
    for (const Value& seen : values) {
      SCOPED_TRACE(std::string(llama_names[kind]) + ": " + seen.name);
      expect_accepted(verdict_on_look_up(test, seen.range, seen.recorded, 0));
      const Verdict verdict = verdict_on_look_up(test, seen.range, seen.recorded, 1);
      expect_rejected(verdict, seen.scope + "/reduce");
      expect_reason(verdict, "reduced claims do not match the sum-check");
    }
  }
}

}  // namespace
}  // namespace tessera::test
