#include <gtest/gtest.h>

#include "opening/schedule.hpp"
#include "hiding_proving.hpp"
#include "integer_model/equalisation.hpp"

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

/// Each vector has masks and more random columns than are opened, the last one's leaves a mask of the one in clear.
void expect_fresh_columns(const OpeningSchedule& schedule) {
  ASSERT_FALSE(schedule.vectors.empty());
  std::uint64_t values = schedule.vector_size;
  for (const CommittedWord& word : schedule.vectors) {
    EXPECT_EQ(word.fresh, (values + 15) / 16);
    EXPECT_GT(word.columns - word.fresh - OpeningSchedule::round_masks, word.positions);
    EXPECT_LE(word.columns, std::uint64_t{1} << word.log_columns);
    EXPECT_GE(word.log_inverse_rate, 1U);
    EXPECT_LE(word.rate, rate_unit / 2);
    EXPECT_EQ(word.extra, &word == &schedule.vectors.back() ? clear_mask_elements : 0U);
    values = word.columns;
  }
  EXPECT_EQ(schedule.clear_size, values);
  EXPECT_LE(schedule.clear_size, OpeningSchedule::max_clear);
  EXPECT_EQ(schedule.log_clear + schedule.vectors.size() * OpeningSchedule::folding, schedule.log_vector);
}

/// Whatever the sizes of vectors.
TEST(HidingLayout, fresh_columns_have_room) {
  for (std::size_t chunks = 1; chunks < std::size_t{1} << 22; chunks += 1 + chunks / 17) {
    SCOPED_TRACE(::testing::Message() << chunks << " chunks");
    const OracleLayout layout({Shape({Dimension::outer(chunks), Dimension::whole(128)})});
    expect_fresh_columns(opening_schedule(std::vector<CommittedOracle>{{layout, {3, 1}, {}, salt_elements}}));
  }
}

/// Any columns that are opened are uniform: at most as many as there are random ones, which are neighbours.
TEST(HidingLayout, random_columns_are_as_many_as_positions) {
  for (const char* const name : {"odd-40k", "odd-qwen-60k", "odd-qwen2-50k", "gutenberg-2m", "gutenberg-llama-3m"}) {
    VerifyingKey key = make_verifying_key(bundled(name).model);
    key.parameter_oracle.absent_rows = 0;
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
        expect_random_columns(plan.parameter_layout, plan.parameter_layout.tensors().size() - 1, parameters.log_rows,
                              parameters.positions * proofs);
        expect_random_columns(plan.witness_layout, hiding.tensor(HidingPlan::tail), witness.log_rows,
                              witness.positions);
        expect_random_columns(plan.witness_layout, hiding.tensor(HidingPlan::mask), witness.log_rows,
                              2 * hiding.row_masks());
        expect_fresh_columns(schedule);
        EXPECT_EQ(hiding.row_variables, schedule.row_variables);
        EXPECT_EQ(hiding.tensor(HidingPlan::tail) + 1, plan.witness_layout.tensors().size());
      }
    }
  }
}

/// They follow from sizes of weights.
TEST(HidingLayout, a_key_does_not_say_powers_of_equalisation) {
  for (const char* const name : {"odd-qwen-60k", "odd-qwen2-50k", "gutenberg-llama-3m"}) {
    const Model& model = bundled(name).model;
    const VerifyingKey plain = make_verifying_key(model);
    VerifyingKey hiding = make_verifying_key(model, 3);
    EXPECT_NE(plain.equalisation, no_equalisation(model.shape));
    EXPECT_EQ(hiding.equalisation, no_equalisation(model.shape));
    hiding.equalisation = plain.equalisation;
    hiding.hiding_proofs = 0;
    EXPECT_EQ(hiding.parameter_oracle.absent_rows, 0U);
    hiding.parameter_oracle = plain.parameter_oracle;
    EXPECT_EQ(hiding.digest(), plain.digest());
  }
}

/// Places of random columns have 32 bits in every verifier.
TEST(HidingLayout, a_key_has_no_more_random_columns_than_places) {
  VerifyingKey key = make_verifying_key(bundled("odd-40k").model);
  for (const auto& [log_rows, most] : {std::pair{4U, std::uint64_t{1} << 20}, {7U, std::uint64_t{165'292}}}) {
    key.parameter_oracle.log_rows = log_rows;
    key.hiding_proofs = most;
    EXPECT_NO_THROW(check_key(key));
    ++key.hiding_proofs;
    EXPECT_THROW(check_key(key), InputError);
  }
}

/// Masks are the same in all rows.
TEST(HidingLayout, a_key_has_all_rows) {
  VerifyingKey key = make_verifying_key(bundled("odd-40k").model);
  key.parameter_oracle = {6, 1, 16};
  EXPECT_NO_THROW(check_key(key));
  key.hiding_proofs = 1;
  EXPECT_THROW(check_key(key), InputError);
  key.parameter_oracle.absent_rows = 0;
  EXPECT_NO_THROW(check_key(key));
  const Model& model = bundled("gutenberg-2m").model;
  EXPECT_EQ(make_verifying_key(model, 1).parameter_oracle.absent_rows, 0U);
  EXPECT_GT(make_verifying_key(model).parameter_oracle.absent_rows, 0U);
}

/// Random columns are counted for the rate 1/2.
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
