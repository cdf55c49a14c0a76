#include <gtest/gtest.h>

#include "base/errors.hpp"

#include "fixture.hpp"

namespace tessera::test {
namespace {

TEST(Binding, another_key_is_rejected) {
  const auto rejected = [](const std::string& what, const auto& change) {
    SCOPED_TRACE(what);
    VerifyingKey key = odd_model().key;
    change(key);
    try {
      EXPECT_FALSE(verify_inference(key, odd_statement(), odd_proof().payload).accepted);
    } catch (const InputError&) {
      // a key that no statement fits
    }
  };
  for_each_exponent(odd_model().key.shape, odd_model().key.exponents, [&](std::string_view name, std::int32_t) {
    rejected(std::string(name), [&](VerifyingKey& key) {
      for_each_exponent(key.shape, key.exponents, [&](std::string_view other, std::int32_t& value) {
        // one larger keeps every shift positive for outputs, one smaller for inputs
        value += other == name && name != "residual" ? (name.size() == 1 || name == "score" ? -1 : 1) : 0;
        value += other == name && name == "residual" ? 1 : 0;
      });
    });
  });
  rejected("exp table", [](VerifyingKey& key) { ++key.exp_table[60000]; });
  rejected("gelu table", [](VerifyingKey& key) { ++key.gelu_table[1]; });
  rejected("vocabulary", [](VerifyingKey& key) { key.tokenizer.vocabulary[200] += "x"; });
  rejected("epsilon", [](VerifyingKey& key) { ++key.epsilon; });
  rejected("filler", [](VerifyingKey& key) { --key.filler; });
  rejected("context", [](VerifyingKey& key) { ++key.shape.n_positions; });
  rejected("rate", [](VerifyingKey& key) { ++key.parameter_oracle.log_inverse_rate; });
  rejected("rows", [](VerifyingKey& key) { ++key.parameter_oracle.log_rows; });
  rejected("absent rows", [](VerifyingKey& key) { key.parameter_oracle = {6, 1, 16}; });
  for (const std::size_t byte : {0, 13, 31}) {
    rejected("root", [&](VerifyingKey& key) { key.parameter_root[byte] ^= 0x10; });
  }
}

TEST(Binding, another_statement_is_rejected) {
  const auto rejected = [](const std::string& what, const auto& change) {
    SCOPED_TRACE(what);
    Statement statement = odd_statement();
    change(statement);
    EXPECT_FALSE(verify_inference(odd_model().key, statement, odd_proof().payload).accepted);
  };
  for (std::size_t i = 0; i < odd_statement().prompt.size(); ++i) {
    rejected("prompt", [&](Statement& s) { s.prompt[i] ^= 1; });
  }
  for (std::size_t i = 0; i < odd_statement().generated.size(); ++i) {
    rejected("generated", [&](Statement& s) { s.generated[i] ^= 1; });
  }
  rejected("filler as text", [](Statement& s) { s.generated.push_back(odd_model().key.filler); });
  rejected("shorter", [](Statement& s) { s.generated.pop_back(); });
  rejected("the border between prompt and text", [](Statement& s) {
    s.prompt.push_back(s.generated.front());
    s.generated.erase(s.generated.begin());
  });
  rejected("the border the other way", [](Statement& s) {
    s.generated.insert(s.generated.begin(), s.prompt.back());
    s.prompt.pop_back();
  });
  rejected("longer padding", [](Statement& s) { s.generated.resize(9, 1); });
}

/// The plan follows from key and statement; a proof made with other tables or widths is no proof.
TEST(Binding, another_plan_is_rejected) {
  ModelPlan wide = odd_plan();
  widen(wide, layer_norm(wide.norm_final).sigma.checked);
  const Proof proof = prove_lie(odd_model(), odd_statement(), {}, &wide);
  expect_accepted(verify_inference(wide, odd_model().key, odd_statement(), proof.payload));
  EXPECT_FALSE(verify_inference(odd_model().key, odd_statement(), proof.payload).accepted);
}

TEST(Binding, plan_of_other_lengths_and_unknown_ids_are_refused) {
  TestModel& test = odd_model();
  const ModelPlan plan = ModelPlan::of(test.key, odd_statement());
  Statement longer = odd_statement();
  longer.generated.push_back(longer.generated.back());
  expect_rejected(verify_inference(plan, test.key, longer, {}), "/statement");
  Statement unknown = odd_statement();
  unknown.generated.front() = UINT32_MAX;
  expect_rejected(verify_inference(plan, test.key, unknown, {}), "/statement");
}

}  // namespace
}  // namespace tessera::test
