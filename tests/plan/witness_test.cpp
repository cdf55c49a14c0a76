#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "plan/context.hpp"
#include "plan/witness.hpp"

#include "../tensor/random_values.hpp"
#include "small_plan.hpp"

namespace tessera::test {
namespace {

/// Values of a trace of the small plan, all within their ranges.
Trace small_trace(const SmallPlan& plan) {
  Trace trace(plan, 0, 1);
  for (std::size_t i = 0; i < 8; ++i) {
    trace[plan.value].values()[i] = static_cast<std::int32_t>(i * 70001) - (1 << 19);
    trace[plan.remainder].values()[i] = static_cast<std::uint16_t>(31 - i);
    trace[plan.pair].values()[i] = static_cast<std::int16_t>(i * i);
  }
  return trace;
}

struct Steps {
  bool input = true, layer = true;
};

/// The witness steps of a layer.
void derive(Witness& witness, const SmallPlan& plan, Steps steps = {}) {
  for (std::size_t i = 0; i < 8; ++i) {
    witness[plan.wide].values()[i] = (std::int64_t{1} << 32) + static_cast<std::int64_t>(i << 15);
    witness[plan.quotient].values()[i] = static_cast<std::int64_t>(1000 * i);
    witness[plan.alone].values()[i] = -static_cast<std::int64_t>(i);
  }
  const auto counting = [](std::size_t step) {
    return [step](std::size_t chunk, std::span<std::int64_t> values) {
      for (std::size_t x = 0; x < values.size(); ++x) {
        values[x] = static_cast<std::int64_t>(step * (4 * chunk + x));
      }
    };
  };
  if (steps.input) {
    witness.set_input(plan.pair, counting(1));
  }
  if (steps.layer) {
    witness.set_range(plan.layer, {}, counting(30000));
  }
}

struct Made {
  SmallPlan plan;
  Trace trace = small_trace(plan);
  ParameterTensors parameters;
  SelfCommunicator self;
  Witness witness{plan, trace, parameters, self};
};

TEST(Witness, holds_what_is_declared) {
  Made made;
  derive(made.witness, made.plan);
  made.witness.finish(made.self);
  const auto expect_tensor = [&](const std::string& name, auto&& expected) {
    const auto at = std::ranges::find(made.plan.witness_names, name) - made.plan.witness_names.begin();
    std::visit(
        [&](const auto* tensor) {
          for (std::size_t i = 0; i < 8; ++i) {
            EXPECT_EQ(static_cast<std::int64_t>(tensor->values()[i]), expected(static_cast<std::int64_t>(i))) << name;
          }
        },
        made.witness.tensors[static_cast<std::size_t>(at)]);
  };
  expect_tensor("value", [](std::int64_t i) { return i * 70001 - (1 << 19); });
  expect_tensor("value/0", [](std::int64_t i) { return i * 70001 % 65536; });
  expect_tensor("remainder/0", [](std::int64_t i) { return 31 - i; });
  expect_tensor("pair", [](std::int64_t i) { return i * i; });
  expect_tensor("wide/0", [](std::int64_t i) { return i * 32768 % 65536; });
  expect_tensor("wide/1", [](std::int64_t i) { return i / 2; });
  expect_tensor("quotient", [](std::int64_t i) { return 1000 * i; });
  expect_tensor("alone", [](std::int64_t i) { return -i; });
  expect_tensor("layer/0", [](std::int64_t i) { return 30000 * i % 65536; });
  expect_tensor("multiplicity/squares", [](std::int64_t) { return 1; });
  std::vector<std::int64_t> looked_up(made.plan.lookup.tables.size());
  for (const LookupColumn& column : made.plan.lookup.columns) {
    looked_up[column.table] += 8;
  }
  for (std::size_t table = 0; table < looked_up.size(); ++table) {
    const auto& counts = made.witness.multiplicities[table];
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), looked_up[table]);
  }
}

TEST(Witness, a_declared_tensor_without_values_is_an_error) {
  const auto error_of = [](Steps steps, auto&& change) -> std::string {
    Made made;
    change(made.plan);
    made.witness.tensors.resize(made.plan.witness_shapes.size());
    derive(made.witness, made.plan, steps);
    try {
      made.witness.finish(made.self);
      return "none";
    } catch (const std::logic_error& error) {
      return error.what();
    }
  };
  const auto nothing = [](Plan&) {};
  EXPECT_EQ(error_of({}, nothing), "none");
  EXPECT_EQ(error_of({.input = false}, nothing), "witness: no values for look-up column pair");
  EXPECT_EQ(error_of({.layer = false}, nothing), "witness: no values for look-up column layer/0");
  // committed as a layer's, but no step gives it
  EXPECT_EQ(error_of({},
                     [](Plan& plan) {
                       plan.witness_shapes.push_back(plan.witness_shapes[0]);
                       plan.witness_names.emplace_back("forgotten");
                       plan.witness_sources.emplace_back();
                     }),
            "witness: no values for committed tensor forgotten");
}

TEST(Witness, values_outside_their_range_are_an_error) {
  Made made;
  made.trace[made.plan.remainder].values()[3] = 32;
  derive(made.witness, made.plan);
  EXPECT_THROW(made.witness.finish(made.self), std::logic_error);
  EXPECT_NO_THROW(made.witness.finish(made.self, OutOfRange::skip));
}

TEST(LookupValues, claims_follow_from_the_declarations) {
  const SmallPlan plan;
  RandomElements random(1);
  LookupClaims claims;
  claims.point = random.elements(plan.lookup.slots().log_leaves);
  claims.a = random.elements(plan.lookup.columns.size());
  claims.b = random.elements(plan.lookup.columns.size());
  claims.multiplicity = random.elements(plan.lookup.tables.size());
  const LookupValues lookup(plan, claims);
  const auto piece = [&](RangeId id, std::size_t i) { return claims.a[plan.ranges[id.range].columns[i]]; };
  const E two_16(F::from_unsigned(1 << 16));
  const E offset(F::from_unsigned(1 << 19));  // all of the shape is present
  const E value = piece(plan.value.checked, 0) + two_16 * piece(plan.value.checked, 1) - offset;
  const E wide = piece(plan.wide, 0) + two_16 * (piece(plan.wide, 1) + two_16 * piece(plan.wide, 2));
  EXPECT_EQ(lookup.value(plan.value.checked), value);
  EXPECT_EQ(lookup.value(plan.wide), wide);
  EXPECT_EQ(lookup.input(plan.pair), claims.a[plan.pair.column]);
  EXPECT_EQ(lookup.output(plan.pair), claims.b[plan.pair.column]);

  ClaimLedger ledger;
  lookup.add_claims(ledger);
  EXPECT_TRUE(ledger[parameter_oracle].empty());
  std::map<std::string, E> expected{{"value", value},
                                    {"value/0", piece(plan.value.checked, 0)},
                                    {"remainder/0", piece(plan.remainder, 0)},
                                    {"pair", claims.b[plan.pair.column]},
                                    {"wide/0", piece(plan.wide, 0)},
                                    {"wide/1", piece(plan.wide, 1)},
                                    {"quotient", piece(plan.quotient.checked, 0)},
                                    {"layer/0", piece(plan.layer, 0)}};
  for (std::size_t table = 0; table < plan.multiplicities.size(); ++table) {
    expected[plan.witness_names[plan.multiplicities[table]]] = claims.multiplicity[table];
  }
  // `alone` is in no look-up: its layer has to claim it
  EXPECT_EQ(ledger[witness_oracle].size(), expected.size());
  for (const Claim& claim : ledger[witness_oracle]) {
    const std::string& name = plan.witness_names[claim.tensor];
    ASSERT_TRUE(expected.contains(name)) << name;
    EXPECT_EQ(claim.value, expected[name]) << name;
    const Shape& shape = plan.witness_shapes[claim.tensor];
    const TensorPoint at = lookup.point(shape);
    const TensorPoint elsewhere = random.point(shape);
    EXPECT_EQ(evaluate_weight(claim.weight, elsewhere), evaluate_weight(weight_at(at), elsewhere)) << name;
  }
}

}  // namespace
}  // namespace tessera::test
