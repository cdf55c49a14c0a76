#include <gtest/gtest.h>

#include "commitment/schedule.hpp"
#include "hiding_proving.hpp"

namespace tessera::test {
namespace {

/// `columns` columns of random cells from the tensor's first one on, one beside the other.
void expect_random_columns(const OracleLayout& layout, std::size_t tensor, unsigned log_rows, std::size_t columns) {
  const Shape& shape = layout.tensors()[tensor];
  EXPECT_EQ(layout.offset(tensor, 0) % (std::size_t{1} << log_rows), 0U);
  EXPECT_GE(shape.chunk_count() * shape.chunk_size(), columns << log_rows);
  EXPECT_GE(shape.chunk_size(), std::size_t{1} << log_rows);
  for (std::size_t chunk = 1; chunk < shape.chunk_count(); ++chunk) {
    EXPECT_EQ(layout.offset(tensor, chunk), layout.offset(tensor, 0) + chunk * shape.chunk_size());
  }
}

/// Any columns that are opened are uniform: at most as many as there are random ones, which are neighbours.
TEST(HidingLayout, random_columns_are_as_many_as_positions) {
  for (const char* const name : {"odd-40k", "odd-qwen-60k", "odd-qwen2-50k", "gutenberg-2m", "gutenberg-llama-3m"}) {
    VerifyingKey key = make_verifying_key(bundled(name).model);
    for (const std::uint64_t proofs : {1, 2, 7, 1000}) {
      SCOPED_TRACE(::testing::Message() << name << ", " << proofs << " proofs");
      key.hiding_proofs = proofs;
      for (const std::size_t length : {1, 16, 24}) {
        const ModelPlan plan = ModelPlan::of(key, length, length);
        const HidingPlan& hiding = *plan.hiding;
        const std::vector<CommittedOracle> oracles = hiding_oracles(plan, key, {});
        const OpeningSchedule schedule = opening_schedule(oracles);
        const CommittedWord& parameters = schedule.oracles[0];
        const CommittedWord& witness = schedule.oracles[1];
        EXPECT_GE(witness.log_domain(), parameters.log_domain());
        // one list of positions, drawn for the witness
        expect_random_columns(plan.parameter_layout, plan.parameter_layout.tensors().size() - 1, parameters.log_rows,
                              witness.positions * proofs);
        expect_random_columns(plan.witness_layout, hiding.tensor(HidingPlan::tail), witness.log_rows,
                              witness.positions);
        expect_random_columns(plan.witness_layout, hiding.tensor(HidingPlan::mask), witness.log_rows,
                              2 * hiding.row_masks());
        EXPECT_EQ(hiding.row_variables, schedule.row_variables);
        EXPECT_EQ(hiding.tensor(HidingPlan::tail) + 1, plan.witness_layout.tensors().size());
      }
    }
  }
}

/// Positions are drawn in the witness's domain, whose rate is 1/2.
TEST(HidingLayout, a_key_has_rate_one_half) {
  VerifyingKey key = make_verifying_key(bundled("odd-40k").model);
  key.hiding_proofs = 1;
  EXPECT_NO_THROW(check_key(key));
  key.parameter_oracle.log_inverse_rate = 2;
  EXPECT_THROW(check_key(key), InputError);
  key.hiding_proofs = 0;
  EXPECT_NO_THROW(check_key(key));
}

}  // namespace
}  // namespace tessera::test
