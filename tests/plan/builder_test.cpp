#include <gtest/gtest.h>

#include "base/errors.hpp"
#include "plan/trace.hpp"

#include "small_plan.hpp"

namespace tessera::test {
namespace {

using Names = std::vector<std::string>;

TEST(Builder, one_declaration_fills_every_list) {
  const SmallPlan plan;
  Names recorded, derived, tables, columns;
  for (const DeclaredTensor& tensor : plan.recorded) {
    recorded.push_back(tensor.name);
  }
  for (const DeclaredTensor& tensor : plan.derived) {
    derived.push_back(tensor.name);
  }
  for (const LookupTable& table : plan.lookup.tables) {
    tables.push_back(table.name);
  }
  for (const LookupColumn& column : plan.lookup.columns) {
    columns.push_back(column.name + " in " + plan.lookup.tables[column.table].name);
  }
  EXPECT_EQ(recorded, (Names{"value", "remainder", "pair", "note"}));
  EXPECT_EQ(derived, (Names{"wide", "quotient", "alone"}));
  EXPECT_EQ(tables, (Names{"squares", "range1", "range2", "range4", "range5", "range16"}));
  EXPECT_EQ(columns, (Names{"value/0 in range16", "value/1 in range4", "remainder/0 in range5", "pair in squares",
                            "wide/0 in range16", "wide/1 in range16", "wide/2 in range1", "quotient/0 in range16",
                            "layer/0 in range16", "layer/1 in range2"}));
  // top pieces are virtual but a remainder's
  EXPECT_EQ(plan.witness_names,
            (Names{"value", "value/0", "remainder/0", "pair", "wide/0", "wide/1", "quotient", "alone", "layer/0",
                   "multiplicity/squares", "multiplicity/range1", "multiplicity/range2", "multiplicity/range4",
                   "multiplicity/range5", "multiplicity/range16"}));
  EXPECT_EQ(plan.witness_names[plan.value.tensor], "value");
  EXPECT_EQ(plan.witness_names[plan.quotient.tensor], "quotient");
  EXPECT_EQ(plan.witness_names[plan.alone_id], "alone");
  EXPECT_EQ(plan.witness_names[plan.pair.output], "pair");
  EXPECT_EQ(plan.witness_sources.size(), plan.witness_names.size());
  EXPECT_EQ(plan.witness_layout.tensors(), plan.witness_shapes);
  EXPECT_EQ(plan.multiplicities.size(), plan.lookup.tables.size());
}

TEST(Builder, ranges_follow_from_widths) {
  const SmallPlan plan;
  const auto expect_range = [&](RangeId id, const std::string& name, unsigned width, std::int64_t offset,
                                std::size_t pieces, std::size_t committed) {
    const RangeCheck& range = plan.ranges[id.range];
    EXPECT_EQ(range.name, name);
    EXPECT_EQ(range.width, width) << name;
    EXPECT_EQ(range.offset, offset) << name;
    EXPECT_EQ(range.pieces(), pieces) << name;
    EXPECT_EQ(range.committed.size(), committed) << name;
    for (std::size_t i = 0; i < pieces; ++i) {
      EXPECT_EQ(plan.lookup.columns[range.columns[i]].name, name + "/" + std::to_string(i));
    }
    for (std::size_t i = 0; i < committed; ++i) {
      EXPECT_EQ(plan.witness_names[range.committed[i]], name + "/" + std::to_string(i));
    }
  };
  EXPECT_EQ(plan.ranges.size(), 5U);
  expect_range(plan.value.checked, "value", 20, 1 << 19, 2, 1);
  expect_range(plan.remainder, "remainder", 5, 0, 1, 1);
  expect_range(plan.wide, "wide", 33, 0, 3, 2);
  expect_range(plan.quotient.checked, "quotient", 16, 0, 1, 0);
  expect_range(plan.layer, "layer", 18, 0, 2, 1);
}

TEST(Builder, a_trace_has_what_is_recorded) {
  const SmallPlan plan;
  const Trace trace(plan, 1, 2);
  ASSERT_EQ(trace.tensors.size(), 4U);
  EXPECT_EQ(trace[plan.value].held(), (std::vector<std::size_t>{1}));
  EXPECT_EQ(trace[plan.pair].held(), (std::vector<std::size_t>{1}));
  EXPECT_EQ(trace[plan.remainder].held(), (std::vector<std::size_t>{0, 1}));
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(trace[plan.remainder].values()[i], 16);  // what rshift(0, 5) leaves
    EXPECT_EQ(trace[plan.note].values()[i], -3);
  }
  EXPECT_EQ(trace[plan.value].values()[0], 0);
  static_assert(Recordable<std::uint16_t> && !Recordable<std::int8_t>, "a trace holds what a builder declares");
}

TEST(Builder, lengths_that_the_model_cannot_have_are_refused) {
  EXPECT_NO_THROW(SmallPlan(7, 1));
  EXPECT_THROW(SmallPlan(0, 1), InputError);
  EXPECT_THROW(SmallPlan(1, 0), InputError);
  EXPECT_THROW(SmallPlan(8, 1), InputError);
  EXPECT_THROW(SmallPlan(1, 8), InputError);
  EXPECT_THROW(SmallPlan(1, static_cast<std::size_t>(-1)), InputError);
  const SmallPlan plan(4, 1);
  EXPECT_EQ(plan.tokens, 5U);
  EXPECT_EQ(plan.rows, 8U);
  EXPECT_EQ(plan.filler, 9U);
  const auto check = [](Statement statement) { check_statement(small_key(), statement); };
  EXPECT_NO_THROW(check({{9}, {0}}));
  EXPECT_THROW(check({{10}, {0}}), InputError);
  EXPECT_THROW(check({{9}, {10}}), InputError);
}

struct HugePlan : Plan {
  explicit HugePlan(unsigned log_size) : Plan(small_key(), {.prompt = 1, .generated = 1}) {
    Builder(*this).committed<std::int16_t>("huge", Shape({Dimension::whole(std::size_t{1} << log_size)}), {});
    pack({}, {Shape({Dimension::whole(128)}), Shape({Dimension::whole(128)})});
  }
};

TEST(Builder, a_witness_beyond_the_field_s_roots_of_unity_is_refused) {
  EXPECT_NO_THROW(HugePlan(37));  // 2^30 columns of 2^7 rows at rate 15/32
  EXPECT_THROW(HugePlan(38), InputError);
}

/// Rows, and log2 of the points, of the oracle of so many parameters.
std::pair<std::size_t, unsigned> rows_and_domain(std::size_t parameters, bool hiding = false) {
  const std::size_t chunks = parameters >> 16;
  const Shape shape({Dimension::outer(chunks), Dimension::whole(std::size_t{1} << 16)});
  const OracleParameters oracle = parameter_oracle_parameters({shape}, hiding);
  return {oracle.rows(), OracleLayout({shape}, oracle).domain(oracle).log_size};
}

TEST(Builder, a_codeword_of_parameters_has_a_low_rate_where_proofs_gain_and_a_disk_has_room) {
  using Oracle = std::pair<std::size_t, unsigned>;
  constexpr std::size_t million = std::size_t{1} << 20;
  EXPECT_EQ(rows_and_domain(64 * million), Oracle(64, 21));    // rate 1/2
  EXPECT_EQ(rows_and_domain(121 * million), Oracle(128, 22));  // 968 Ki columns
  EXPECT_EQ(rows_and_domain(129 * million), Oracle(128, 22));  // 1032 Ki columns: rate 1/4
  EXPECT_EQ(rows_and_domain(341 * million), Oracle(128, 23));  // the last that 8 GiB hold at 1/3
  EXPECT_EQ(rows_and_domain(342 * million), Oracle(88, 23));
  EXPECT_EQ(rows_and_domain(121 * million, true), Oracle(64, 22));
  EXPECT_EQ(rows_and_domain(129 * million, true), Oracle(128, 22));
}

}  // namespace
}  // namespace tessera::test
