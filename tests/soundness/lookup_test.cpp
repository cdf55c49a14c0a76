#include <gtest/gtest.h>

#include "fixture.hpp"

namespace tessera::test {
namespace {

TEST(LookupLies, multiplicities_must_match) {
  const std::size_t tables = odd_forgery().plan.lookup.tables.size();
  for (std::size_t table = 0; table < tables; ++table) {
    SCOPED_TRACE(table);
    Forgery forgery = odd_forgery();
    std::vector<std::int64_t> counts = forgery.witness->multiplicities[table];
    --counts.front();
    ++counts.back();
    forgery.set_multiplicities(table, counts);
    expect_rejected(verdict_of(forgery), lookup_scope);
  }
}

/// The look-up argument sees true values, the commitment holds others.
TEST(LookupLies, every_committed_tensor_is_bound_to_the_lookup) {
  const std::size_t tensors = odd_forgery().plan.witness_shapes.size();
  for (std::size_t tensor = 0; tensor < tensors; tensor += each_or_every(4)) {
    Forgery forgery = odd_forgery();
    SCOPED_TRACE(forgery.plan.witness_names[tensor]);
    ChunkedTensor<std::int64_t>& changed = forgery.copy(forgery.witness->tensors[tensor]);
    // pieces and counts are 16 bits or more wide and not negative
    changed.values().back() += changed.values().back() > 0 ? -1 : 1;
    forgery.set_tensor(tensor, changed);
    EXPECT_FALSE(verdict_of(forgery).accepted);
  }
}

/// GELU of one value one larger: not in the table; with a prover's own table, not in the verifier's.
TEST(LookupLies, gelu_pair_outside_the_table_is_rejected) {
  TestModel& test = odd_model();
  std::size_t entry = 0;
  const auto lie = lie_at(Stage::gelu, 1, [&entry](Trace& trace) {
    ++block_row(trace[gpt2_mlp(odd_plan().mlp).gelu], 1, 9)[last_token];
    entry = static_cast<std::size_t>(block_row(trace[gpt2_mlp(odd_plan().mlp).z], 1, 9)[last_token] + 32768);
  });
  expect_rejected(verify_inference(test.key, odd_statement(), prove_lie(test, odd_statement(), lie).payload),
                  lookup_scope);
  ModelPlan fake = odd_plan();
  ++fake.lookup.tables[fake.lookup.columns[gpt2_mlp(fake.mlp).gelu.column].table].values[entry];
  const auto every = [&](Stage stage, std::size_t block, Trace& trace) {
    for (std::size_t f = 0; stage == Stage::gelu && f < test.model.shape.n_inner; ++f) {
      for (std::size_t t = 0; t < odd_tokens; ++t) {
        const auto z = static_cast<std::size_t>(block_row(trace[gpt2_mlp(odd_plan().mlp).z], block, f)[t] + 32768);
        block_row(trace[gpt2_mlp(odd_plan().mlp).gelu], block, f)[t] =
            static_cast<std::int16_t>(block_row(trace[gpt2_mlp(odd_plan().mlp).gelu], block, f)[t] + (z == entry));
      }
    }
  };
  const Proof proof = prove_lie(test, odd_statement(), every, &fake);
  expect_rejected(verify_inference(test.key, odd_statement(), proof.payload), "/lookup");
}

/// Distances or activations that do not belong to the scores and products, with true pairs of the table.
TEST(LookupLies, inputs_of_pairs_are_bound) {
  TestModel& test = odd_model();
  Forgery forgery = odd_forgery();
  const std::size_t place = last_token * odd_tokens + 3;
  forgery.set_input(forgery.plan.attention.exponential, 5, place, 1);
  score_at(forgery.trace[odd_plan().attention.exponential], 5, last_token, 3) = test.integers.key.exp_table[1];
  forgery.recount();
  EXPECT_FALSE(verdict_of(forgery).accepted);
  Forgery other = odd_forgery();
  ++block_row(other.trace[gpt2_mlp(odd_plan().mlp).z], 1, 9)[last_token];
  block_row(other.trace[gpt2_mlp(odd_plan().mlp).gelu], 1, 9)[last_token] =
      static_cast<std::int16_t>(test.integers.key.gelu_table[static_cast<std::size_t>(
          block_row(other.trace[gpt2_mlp(odd_plan().mlp).z], 1, 9)[last_token] + 32768)]);
  other.recount();
  expect_rejected(verdict_of(other), "/feed_forward/mlp/product");
}

}  // namespace
}  // namespace tessera::test
