// Proofs that continue proofs: the state between them, and every lie about it.

#include <gtest/gtest.h>

#include <algorithm>

#include "parts.hpp"

namespace tessera::test {
namespace {

const Part& first() {
  static const Part part = prove_part(odd_model(), nullptr, {17, 42, 5, 99, 120, 7}, 4, true);
  return part;
}
const Part& second() {
  static const Part part = prove_part(odd_model(), &first(), {64, 31, 8}, 5, true);
  return part;
}

TEST(Conversation, parts_are_accepted_and_fit_together) {
  TestModel& test = odd_model();
  const Part third = prove_part(test, &second(), {}, 3, false);  // goes on without a word
  for (const Part* part : {&first(), &second(), &third}) {
    const Verdict verdict = verify(test, *part);
    expect_accepted(verdict);
    EXPECT_EQ(verdict.kept, part->kept);
  }
  EXPECT_EQ(second().statement.start, first().kept);
  EXPECT_EQ(first().kept->length, 9U);
  EXPECT_EQ(second().kept->length, 9U + 8U);
  EXPECT_EQ(first().kept->last_token, first().statement.generated.back());
  EXPECT_FALSE(third.kept);
}

TEST(Conversation, one_token_passes_are_accepted) {
  TestModel& test = odd_model();
  Part before = prove_part(test, nullptr, {17}, 1, true);
  for (int i = 0; i < 3; ++i) {
    Part part = prove_part(test, &before, {}, 1, true);
    expect_accepted(verify(test, part));
    before = std::move(part);
  }
}

TEST(Conversation, gutenberg_over_several_tiles) {
  TestModel& test = gutenberg_model();
  Ids prompt(150);
  for (std::size_t i = 0; i < prompt.size(); ++i) {
    prompt[i] = static_cast<std::uint32_t>((i * 37 + 11) % 500);
  }
  const Part a = prove_part(test, nullptr, Ids(prompt.begin(), prompt.begin() + 20), 3, true);
  expect_accepted(verify(test, a));
  const Part b = prove_part(test, &a, prompt, 10, true);  // two query tiles, three key tiles
  expect_accepted(verify(test, b));
  const Part c = prove_part(test, &b, {5}, 2, false);
  expect_accepted(verify(test, c));
}

/// All values of a recorded tensor (tokens last, in chunks): token `first` of the one is token `second` of the other.
template <class T>
void expect_same_row(const ChunkedTensor<T>& a, std::size_t first, const ChunkedTensor<T>& b, std::size_t second) {
  const auto values_of = [](const ChunkedTensor<T>& tensor, std::size_t token) {
    const Dimension& tokens = tensor.shape().dimensions().back();
    std::vector<T> values;
    for (std::size_t outer = 0; outer < tensor.shape().chunk_count() / tokens.chunk_count(); ++outer) {
      const auto chunk = tensor.chunk(outer * tokens.chunk_count() + token / tokens.chunk());
      for (std::size_t row = 0; row < chunk.size() / tokens.chunk(); ++row) {
        values.push_back(chunk[row * tokens.chunk() + token % tokens.chunk()]);
      }
    }
    return values;
  };
  EXPECT_EQ(values_of(a, first), values_of(b, second));
}

TEST(Conversation, integers_are_those_of_one_pass) {
  TestModel& test = odd_model();
  Ids tokens = first().statement.prompt;
  for (const Ids* more : {&first().statement.generated, &second().statement.prompt, &second().statement.generated}) {
    tokens.insert(tokens.end(), more->begin(), more->end());
  }
  const Ids prompt(tokens.begin(), tokens.end() - 5);
  const Ids generated(tokens.end() - 5, tokens.end());
  const ModelPlan whole = ModelPlan::of(test.key, prompt.size(), generated.size());
  const Trace trace = run_inference(test.integers, whole, prompt, test.comm);
  EXPECT_EQ(trace.generated_tokens(), generated);
  const ModelPlan plan = ModelPlan::of(test.key, second().statement);
  const Trace& part = second().trace;
  for (std::size_t row = 0; row < plan.tokens; ++row) {
    const std::size_t at = plan.past + row;
    expect_same_row(part[plan.x_in], row, trace[whole.x_in], at);
    expect_same_row(part[plan.x_mid], row, trace[whole.x_mid], at);
    expect_same_row(part[plan.x_end], row, trace[whole.x_end], at);
    for (std::size_t i = 0; i < 3; ++i) {
      expect_same_row(part[gpt2_qkv(plan.qkv).value[i]], row, trace[gpt2_qkv(whole.qkv).value[i]], at);
    }
    expect_same_row(part[plan.attention.y], row, trace[whole.attention.y], at);
    expect_same_row(part[plan.attention.row_sum], row, trace[whole.attention.row_sum], at);
    expect_same_row(part[gpt2_mlp(plan.mlp).gelu], row, trace[gpt2_mlp(whole.mlp).gelu], at);
  }
  for (std::size_t position = 0; position < second().kept->length; ++position) {
    expect_same_row(second().state[state_keys], position, trace[gpt2_qkv(whole.qkv).value[1]], position);
    expect_same_row(second().state[state_values], position, trace[gpt2_qkv(whole.qkv).value[2]], position);
  }
}

TEST(Conversation, account_is_the_proof_message_by_message) {
  for (const Part* part : {&first(), &second()}) {
    const ModelPlan plan = ModelPlan::of(odd_model().key, part->statement);
    const StatementAccount account = account_of(plan, odd_model().key);
    const std::vector<Account::Message>& expected = account.account.messages;
    ASSERT_EQ(part->messages.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(part->messages[i].path, expected[i].path);
      EXPECT_EQ(part->messages[i].label, expected[i].label);
      if (expected[i].label != "columns" && expected[i].label != "siblings") {  // their lengths depend on positions
        EXPECT_EQ(part->messages[i].length, expected[i].bytes()) << expected[i].path << ":" << expected[i].label;
      }
    }
    EXPECT_GE(account.account.bytes(), part->payload.size());
    // keys and values: at attention's point of the past, at rho of the kept state and of the past
    EXPECT_EQ(account.ledger[kept_oracle].size(), 2U);
    if (part == &second()) {
      EXPECT_EQ(account.ledger[past_oracle].size(), 4U);
    }
    const auto& rounds = account.account.soundness().entries;
    EXPECT_TRUE(std::ranges::any_of(rounds, [](const SoundnessEntry& entry) {
      return entry.reason.find("the kept state at a point") != std::string::npos;
    }));
  }
}

TEST(Conversation, every_altered_message_is_rejected) {
  Part part = second();
  expect_altered_messages_rejected(odd_model(), part);
  part.payload.pop_back();
  EXPECT_FALSE(verify(odd_model(), part).accepted);
}

TEST(Conversation, to_the_end_of_the_context) {
  TestModel& test = odd_model();  // 48 positions
  const Part a = prove_part(test, nullptr, {17, 42, 5, 99, 120, 7, 1, 2, 3, 4}, 5, true);
  expect_accepted(verify(test, a));
  ASSERT_EQ(a.kept->length, 14U);
  const Part b = prove_part(test, &a, {64, 31, 8}, 30, true);  // 33 rows, padded to 64: 78 keys
  expect_accepted(verify(test, b));
  EXPECT_EQ(b.kept->length, 47U);
  EXPECT_THROW(prove_part(test, &a, {64, 31, 8}, 31, true), InputError);
  EXPECT_THROW(prove_part(test, &b, {}, 1, false), InputError);
}

// Parts that are true alone, but not of one conversation.

void expect_other_part_rejected(const std::function<void(Part&)>& change, const std::string& reason) {
  TestModel& test = odd_model();
  Part lying = first();
  change(lying);
  const Part part = prove_part(test, &lying, {64, 31, 8}, 5, false);
  expect_accepted(verify(test, part));
  const Verdict verdict = verify_continuation(test.key, part.statement, part.payload, first().kept);
  expect_rejected(verdict, "/statement");
  EXPECT_NE(verdict.reason.find(reason), std::string::npos) << verdict.reason;
}

TEST(Conversation, parts_follow_each_other) {
  TestModel& test = odd_model();
  const auto check = [&](const Part& part, const std::optional<ConversationState>& before) {
    return verify_continuation(test.key, part.statement, part.payload, before);
  };
  const auto beginning = [&](const Part& part) { return verify_beginning(test.key, part.statement, part.payload); };
  expect_accepted(beginning(first()));
  expect_accepted(check(second(), first().kept));
  expect_rejected(beginning(second()), "/statement");
  expect_rejected(check(second(), second().kept), "/statement");
  expect_rejected(check(first(), first().kept), "/statement");
  // nothing follows a part that keeps nothing, a beginning least of all
  for (const Part& part : {first(), second()}) {
    const Verdict verdict = check(part, std::nullopt);
    expect_rejected(verdict, "/statement");
    EXPECT_EQ(verdict.reason, "the part before it keeps no state to continue");
  }
}
TEST(Conversation, part_before_another_root_length_or_last_token) {
  const auto check = [](const std::function<void(ConversationState&)>& change) {
    ConversationState before = first().kept.value();
    change(before);
    expect_rejected(verify_continuation(odd_model().key, second().statement, second().payload, before), "/statement");
  };
  check([](ConversationState& before) { before.root[31] ^= 1; });
  check([](ConversationState& before) { before.length ^= 1; });
  check([](ConversationState& before) { before.length = 0; });
  check([](ConversationState& before) { before.last_token ^= 1; });
}
TEST(Conversation, part_after_another_last_token) {
  expect_other_part_rejected([](Part& part) { part.kept->last_token ^= 1; }, "last token");
}
TEST(Conversation, part_after_a_hole) {  // the state is zero from its length on: its root fits one position more, too
  expect_other_part_rejected([](Part& part) { part.kept->length += 1; }, "another length");
}
TEST(Conversation, part_after_another_conversation) {
  expect_other_part_rejected(
      [](Part& part) {
        part = prove_part(odd_model(), nullptr, {17, 42, 5, 99, 120, 8}, 4, true);
      },
      "another state");
}

// What a statement says of its start.

void expect_other_start_rejected(const std::function<void(ConversationState&)>& change) {
  Part part = second();
  change(*part.statement.start);
  EXPECT_FALSE(verify(odd_model(), part).accepted);
}

TEST(Conversation, another_root) {
  expect_other_start_rejected([](ConversationState& start) { start.root[0] ^= 1; });
}
TEST(Conversation, another_length) {
  expect_other_start_rejected([](ConversationState& start) { start.length += 1; });
  expect_other_start_rejected([](ConversationState& start) { start.length -= 1; });
  expect_other_start_rejected([](ConversationState& start) { start.length = 0; });
  expect_other_start_rejected([](ConversationState& start) { start.length = UINT64_MAX; });
}
TEST(Conversation, another_last_token) {
  expect_other_start_rejected([](ConversationState& start) { start.last_token ^= 1; });
  expect_other_start_rejected([](ConversationState& start) { start.last_token = UINT32_MAX; });
}
TEST(Conversation, a_continuation_told_as_a_beginning) {
  Part part = second();
  part.statement.start.reset();
  EXPECT_FALSE(verify(odd_model(), part).accepted);
}
TEST(Conversation, a_state_that_is_not_kept) {
  Part part = second();
  part.statement.keeps = false;
  EXPECT_FALSE(verify(odd_model(), part).accepted);
}

// A state that is kept but is not the past one and the new rows.

void expect_kept_lie_rejected(const std::function<void(StateTensors&)>& lie) {
  const Part part =
      prove_part(odd_model(), &first(), {64, 31, 8}, 5, true, {}, [&](Witness& witness) { lie(witness.kept); });
  expect_rejected(verify(odd_model(), part), "/self_attention/qkv/reduce");
}

constexpr std::size_t state_stride = 64;  // 48 positions, padded

std::int16_t& cell(StateTensors& state, StateTensor tensor, std::size_t row, std::size_t position) {
  return state[tensor].values()[row * state_stride + position];
}
std::size_t rows_of(StateTensors& state) { return state[state_keys].values().size() / state_stride; }

TEST(Conversation, kept_row_altered) {
  for (const StateTensor tensor : {state_keys, state_values}) {
    for (const std::size_t position : {0, 9}) {
      expect_kept_lie_rejected([&](StateTensors& state) { cell(state, tensor, 5, position) += 1; });
    }
  }
}
TEST(Conversation, kept_row_moved) {
  expect_kept_lie_rejected([](StateTensors& state) {
    for (std::size_t row = 0; row < rows_of(state); ++row) {
      std::swap(cell(state, state_keys, row, 3), cell(state, state_keys, row, 12));
    }
  });
}
TEST(Conversation, kept_row_doubled) {
  expect_kept_lie_rejected([](StateTensors& state) {
    for (std::size_t row = 0; row < rows_of(state); ++row) {
      cell(state, state_values, row, 17) = cell(state, state_values, row, 16);
    }
  });
}
TEST(Conversation, kept_row_left_out) {
  for (const std::size_t position : {0, 16}) {
    expect_kept_lie_rejected([&](StateTensors& state) {
      for (std::size_t row = 0; row < rows_of(state); ++row) {
        cell(state, state_keys, row, position) = 0;
      }
    });
  }
}
TEST(Conversation, kept_state_not_zero_beyond_its_end) {
  for (const std::size_t position : {17, 47, 63}) {
    expect_kept_lie_rejected([&](StateTensors& state) { cell(state, state_keys, 0, position) = 1; });
  }
}
TEST(Conversation, kept_keys_and_values_exchanged) {
  expect_kept_lie_rejected([](StateTensors& state) { std::swap(state[state_keys], state[state_values]); });
}
TEST(Conversation, kept_blocks_exchanged) {
  expect_kept_lie_rejected([](StateTensors& state) {
    auto& values = state[state_keys].values();
    std::swap_ranges(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                     values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  });
}
TEST(Conversation, kept_heads_exchanged) {
  expect_kept_lie_rejected([](StateTensors& state) {
    auto& values = state[state_values].values();
    constexpr std::ptrdiff_t head = 12 * state_stride;
    std::swap_ranges(values.begin(), values.begin() + head, values.begin() + head);
  });
}

// A past that attention reads otherwise than the state has it.

void expect_past_lie_rejected(const std::function<void(StateTensors&)>& lie) {
  Part lying = first();
  lie(lying.state);  // inference reads this; what is committed and opened is the true state
  const Part part = prove_part(odd_model(), &lying, {64, 31, 8}, 5, false, {},
                               [&](Witness& witness) { witness.past = first().state; });
  expect_rejected(verify(odd_model(), part), "/self_attention/qkv/reduce");
}

TEST(Conversation, past_row_altered) {
  expect_past_lie_rejected([](StateTensors& state) { cell(state, state_keys, 7, 2) += 300; });
  expect_past_lie_rejected([](StateTensors& state) { cell(state, state_values, 7, 8) += 300; });
}
TEST(Conversation, past_row_hidden) {
  expect_past_lie_rejected([](StateTensors& state) {
    for (std::size_t row = 0; row < rows_of(state); ++row) {
      cell(state, state_values, row, 0) = 0;
    }
  });
}
TEST(Conversation, past_keys_and_values_exchanged) {
  expect_past_lie_rejected([](StateTensors& state) { std::swap(state[state_keys], state[state_values]); });
}

TEST(Conversation, state_of_another_root_is_refused) {
  Part lying = first();
  cell(lying.state, state_keys, 0, 0) += 1;
  EXPECT_THROW(prove_part(odd_model(), &lying, {64}, 2, false), InputError);
}

TEST(Conversation, a_compact_codeword_opens_as_the_whole_one) {
  TestModel& test = odd_model();
  const ModelPlan plan = ModelPlan::of(test.key, second().statement);
  const auto witness = make_witness(plan, second().statement, second().trace, test.parameters, test.comm);
  ProverOptions options;
  options.past_nodes = first().nodes;
  const Proof proof = prove_witness(plan, test.key, second().statement, *witness, *test.codeword, test.comm, options);
  EXPECT_EQ(proof.payload, second().payload);
  witness->past[state_keys].values()[3] ^= 1;
  EXPECT_THROW(prove_witness(plan, test.key, second().statement, *witness, *test.codeword, test.comm, options),
               InputError);
}

// A pass that is computed and proven by other rules, checked by the true ones.

void expect_plan_lie_rejected(const std::function<void(ModelPlan&)>& change, const std::string& scope) {
  const Part part = prove_part(odd_model(), &first(), {64, 31, 8}, 5, true, change);
  expect_rejected(verify(odd_model(), part), scope);
}

TEST(Conversation, one_row_too_many_is_kept) {
  const Part part =  // a filler row, the eighth
      prove_part(odd_model(), &first(), {64, 31}, 5, true, [](ModelPlan& plan) { plan.cache.added = 8; });
  expect_rejected(verify(odd_model(), part), "/self_attention/qkv/reduce");
}
TEST(Conversation, last_token_s_row_is_kept_of_a_beginning) {
  const Part part = prove_part(odd_model(), nullptr, {17, 42, 5, 99, 120, 7}, 4, true,
                               [](ModelPlan& plan) { plan.cache.added += 1; });
  expect_rejected(verify(odd_model(), part), "/self_attention/qkv/reduce");
}

TEST(Conversation, mask_shows_a_future_key) {
  expect_plan_lie_rejected([](ModelPlan& plan) { plan.attention.past += 1; }, "/self_attention/attention/values");
}
TEST(Conversation, mask_hides_a_past_key) {
  expect_plan_lie_rejected([](ModelPlan& plan) { plan.attention.past -= 1; }, "/self_attention/attention/mask");
}
TEST(Conversation, new_rows_at_other_places) {
  for (const std::size_t past : {8, 10}) {
    const Part part = prove_part(odd_model(), &first(), {64, 31, 8}, 5, true, {}, {},
                                 [&](ModelPlan& plan) { plan.cache.past = past; });
    expect_rejected(verify(odd_model(), part), "/self_attention/qkv/reduce");
  }
}
TEST(Conversation, kept_rows_fewer) {
  expect_plan_lie_rejected([](ModelPlan& plan) { plan.cache.added = 7; }, "/self_attention/qkv/reduce");
}

}  // namespace
}  // namespace tessera::test
