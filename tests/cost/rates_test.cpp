#include <gtest/gtest.h>

#include <array>

#include "architecture/model_plan.hpp"
#include "cost/rates.hpp"
#include "cost/shape_key.hpp"
#include "model/integer_model.hpp"
#include "model/synthesis.hpp"

namespace tessera {
namespace {

constexpr auto range = static_cast<std::size_t>(Work::range_lookup);
constexpr auto pair = static_cast<std::size_t>(Work::pair_lookup);
constexpr auto row = static_cast<std::size_t>(Work::table_row);

Sample sample(double ranges, double pairs, double rows, double seconds) {
  Sample result;
  result.work[range] = ranges;
  result.work[pair] = pairs;
  result.work[row] = rows;
  result.seconds = seconds;
  return result;
}

TEST(Rates, are_those_that_explain_the_times) {
  std::vector<Sample> samples;
  for (const auto& [ranges, pairs, rows] :
       {std::array{1e6, 2e5, 65536.0}, {3e7, 1e6, 131072.0}, {2e6, 9e6, 65536.0}, {8e6, 8e6, 131072.0}}) {
    samples.push_back(sample(ranges, pairs, rows, 40e-9 * ranges + 54e-9 * pairs + 100e-9 * rows));
  }
  const Amounts rates = fit_rates(samples);
  EXPECT_NEAR(rates[range], 40e-9, 2e-9);
  EXPECT_NEAR(rates[pair], 54e-9, 2e-9);
  EXPECT_NEAR(rates[row], 100e-9, 40e-9);
  // in no sample: as the others are to theirs
  const Amounts nominal = nominal_rates().seconds;
  constexpr auto check = static_cast<std::size_t>(Work::check);
  EXPECT_NEAR(rates[check] / nominal[check], rates[range] / nominal[range], 0.3);
}

TEST(Rates, are_never_negative) {
  // more pairs, less time: the best fit would pay for them
  const Amounts rates = fit_rates({sample(1e6, 1e6, 0, 0.04), sample(1e6, 2e6, 0, 0.03)});
  EXPECT_GE(rates[pair], 0);
  EXPECT_LT(rates[pair], 10e-9);
  EXPECT_GT(rates[range], 20e-9);
}

TEST(Rates, of_the_nearest_ranks_and_threads) {
  MachineRates machine{
      "", {{.ranks_on_node = 1, .threads = 1}, {.ranks_on_node = 1, .threads = 2}, {.ranks_on_node = 2, .threads = 1}}};
  const auto found = [&](int ranks, int threads) {
    const Rates rates = rates_for(machine, ranks, threads).value();
    return std::array{rates.ranks_on_node, rates.threads};
  };
  EXPECT_EQ(found(1, 1), (std::array{1, 1}));
  EXPECT_EQ(found(1, 2), (std::array{1, 2}));
  EXPECT_EQ(found(2, 1), (std::array{2, 1}));
  EXPECT_EQ(found(4, 1), (std::array{2, 1}));
  EXPECT_EQ(found(1, 8), (std::array{1, 2}));
  EXPECT_FALSE(rates_for({}, 1, 1).has_value());
}

TEST(Rates, time_is_work_and_communication) {
  Rates rates;
  rates.seconds[range] = 2;
  rates.seconds[row] = 3;
  rates.call_seconds = 5;
  rates.byte_seconds = 7;
  PhaseCost phase;
  phase.work[range] = 11;
  phase.work[row] = 13;
  phase.calls = 17;
  phase.bytes = 19;
  EXPECT_EQ(seconds_of(phase, rates), 2 * 11 + 3 * 13 + 5 * 17 + 7 * 19);
  rates.shown_byte_seconds = 2;
  phase.shown = 9;  // of them
  EXPECT_EQ(seconds_of(phase, rates), 2 * 11 + 3 * 13 + 5 * 17 + 7 * 10 + 2 * 9);
}

TEST(Rates, of_one_rank_take_communication_from_several) {
  const MachineRates machine{
      "",
      {{.ranks_on_node = 1, .threads = 1},
       {.ranks_on_node = 4, .threads = 1, .call_seconds = 6, .byte_seconds = 7, .shown_byte_seconds = 8}}};
  const Rates one = rates_for(machine, 1, 1).value();
  EXPECT_EQ(one.ranks_on_node, 1);
  EXPECT_EQ(one.call_seconds, 3);  // of one of the two steps among four
  EXPECT_EQ(one.byte_seconds, 7);
  EXPECT_EQ(one.shown_byte_seconds, 8);
}

TEST(Rates, of_a_network_count_steps_and_one_link_a_machine) {
  const Rates rates{.ranks_on_node = 2, .call_seconds = 3, .byte_seconds = 5};
  PhaseCost phase;
  phase.calls = 7;
  phase.bytes = 11;
  const Network network{.byte_seconds = 13, .message_seconds = 17};
  const auto seconds = [&](int ranks, int nodes) {
    return communication_seconds(phase, rates, {.ranks = ranks, .nodes = nodes}, network);
  };
  EXPECT_EQ(seconds(4, 1), 7 * 2 * 3 + 11 * 5);
  EXPECT_EQ(seconds(8, 2), 7 * (2 * 3 + 17) + 11 * 5 + 11.0 / 2 * 4 * 13);
  EXPECT_EQ(seconds(4, 4), 7 * (2 * 17) + 11 * 5 + 11 * 0.75 * 13);
  // what a machine's ranks show each other takes no link
  phase.shown = 11;
  EXPECT_EQ(seconds(8, 2), 7 * (2 * 3 + 17));
  // and what one of them gets for all of them takes it once
  phase.relayed = 4;
  EXPECT_EQ(seconds(8, 2), 7 * (2 * 3 + 17) + 4 * (5 + 13));
  phase.shown = phase.relayed = 0;
  // without a network machines are as one
  EXPECT_EQ(communication_seconds(phase, rates, {.ranks = 8, .nodes = 2}, {}), 7 * 3 + 11 * 5);
}

TEST(Rates, what_a_node_shares_comes_to_it_once) {
  const Rates rates{.ranks_on_node = 2, .call_seconds = 0, .byte_seconds = 5};
  const Network network{.byte_seconds = 13, .message_seconds = 0};
  const auto seconds = [&](int ranks, int nodes) {
    const JobShape job{.ranks = ranks, .nodes = nodes};
    PhaseCost phase;
    phase.shared = 240;
    phase.bytes = 11 + job.received_of_shared(240);
    return communication_seconds(phase, rates, job, network);
  };
  // a rank writes its part; from the other node each gets a quarter of that one's half, all over one link
  EXPECT_EQ(seconds(4, 1), (11 + 60) * 5);
  EXPECT_EQ(seconds(8, 2), (11 + 30 + 30) * 5 + (11.0 / 2 * 4 + 120) * 13);
  // ranks of their own receive what the others have
  EXPECT_EQ(seconds(4, 4), (11 + 180) * 5 + (11 * 0.75 + 180) * 13);
}

/// Look-ups that a statement of these lengths has.
std::size_t lookups(const VerifyingKey& key) { return ModelPlan::of(key, 20, 12).lookup.present_leaves(); }

TEST(ShapeKey, plans_as_that_of_a_whole_model) {
  CheckpointConfig gpt2;
  gpt2.shape = {3, 96, 4, 384, 600, 64};
  CheckpointConfig llama = gpt2;
  llama.shape.architecture = Architecture::llama;
  llama.shape.n_kv_head = 2;
  llama.shape.head_dim = 24;
  llama.shape.qkv_bias = false;
  llama.activation = "silu";
  for (const CheckpointConfig& config : {gpt2, llama}) {
    const VerifyingKey whole = make_verifying_key(synthesize_model(config, 1));
    const VerifyingKey key = key_of_shape(config);
    EXPECT_EQ(key.shape, whole.shape);
    EXPECT_EQ(key.epsilon, whole.epsilon);
    EXPECT_EQ(key.parameter_oracle.log_rows, whole.parameter_oracle.log_rows);
    EXPECT_NEAR(double(lookups(key)), double(lookups(whole)), 0.05 * double(lookups(whole)));
  }
}

}  // namespace
}  // namespace tessera
