#pragma once

#include "architecture/inference.hpp"
#include "fixture.hpp"

namespace tessera::test {

using Ids = std::vector<std::uint32_t>;
using StateTensors = std::vector<ChunkedTensor<std::int16_t>>;

/// A proven part of a conversation, with what later parts and tests need.
struct Part {
  Statement statement;
  std::vector<std::uint8_t> payload;
  std::optional<ConversationState> kept;
  StateTensors state;
  Trace trace;
  std::vector<Message> messages;
  std::vector<Digest> nodes;
};

/// What a part after `before` says, before anything is generated.
Statement statement_after(const Part* before, Ids prompt, bool keeps);

using Lie = std::function<void(Witness&)>;
using PlanChange = std::function<void(ModelPlan&)>;

/// Generates as many tokens as the statement has and proves by the statement's plan as it is changed, from
/// `change_proof` on by that.
Part prove_part(TestModel& test, const Part* before, Statement statement, const PlanChange& change = {},
                const Lie& lie = {}, const PlanChange& change_proof = {});
Part prove_part(TestModel& test, const Part* before, Ids prompt, std::size_t generate, bool keeps,
                const PlanChange& change = {}, const Lie& lie = {}, const PlanChange& change_proof = {});

Verdict verify(TestModel& test, const Part& part);

/// Key tiles of the passes as after `more` more positions.
void shift_tiles(ModelPlan& plan, std::ptrdiff_t more);

/// One bit of each message turned, then none.
void expect_altered_messages_rejected(TestModel& test, Part part);

}  // namespace tessera::test
