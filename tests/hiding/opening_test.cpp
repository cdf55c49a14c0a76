#include <gtest/gtest.h>

#include "hiding_opening.hpp"

namespace tessera::test {
namespace {

TEST(HidingOpening, is_accepted) {
  for (const OpeningRows rows :
       {OpeningRows{3, 3}, OpeningRows{4, 3}, OpeningRows{3, 4}, OpeningRows{6, 3}, OpeningRows{4, 7}}) {
    SCOPED_TRACE(::testing::Message() << rows.parameters << " and " << rows.witness << " row variables");
    const OpeningValues values(1);
    HidingOpening opening({{rows.parameters, 1}, {rows.witness, 1}, 208, 208}, values, seed_of("accepted"));
    const ProverTranscript transcript = opening.prove(opening.draw(1));
    EXPECT_NO_THROW(opening.verify(transcript.payload()));
  }
}

/// Work before challenges for row variables, which only large ones have.
TEST(HidingOpening, has_work_before_row_variables) {
  const OpeningValues values(1);
  HidingOpening opening({{4, 1}, {3, 1}, 208, 208}, values, seed_of("accepted"));
  opening.ask_row_work(3);
  const ProverTranscript transcript = opening.prove(opening.draw(1));
  EXPECT_NO_THROW(opening.verify(transcript.payload()));
  opening.ask_row_work(15);
  EXPECT_THROW(opening.verify(transcript.payload()), Rejected);
}

/// What a frozen opening draws for gamma and, after as many rounds, for epsilon.
struct Drawn {
  E gamma, epsilon;
  unsigned rounds = 0;
  Drawn(const Digest& seed, const OpeningSchedule& schedule) {
    ProverTranscript transcript(seed);
    const auto scope = transcript.scope("opening");
    (void)transcript.challenge("batch constraints");
    gamma = transcript.challenge("batch claims");
    const auto bind = [&](unsigned variables) {
      for (unsigned i = 0; i < variables; ++i, ++rounds) {
        (void)transcript.challenge("bind");
      }
    };
    bind(schedule.row_variables);
    for (std::size_t round = 0; round < schedule.vectors.size(); ++round) {
      for (const CommittedWord& word : schedule.opened_in_round(round)) {
        (void)transcript.positions("positions", word.positions, word.domain().points());
      }
      (void)transcript.challenge("batch columns");
      bind(OpeningSchedule::folding);
    }
    epsilon = transcript.challenge("mask");
  }
};

/// A claim that is false by d makes the running one false by C = gamma*d/2^n after n rounds. A liar makes up for it
/// with the sum of weights and mask, if epsilon is known before: without epsilon, or with a guess of it, in vain.
TEST(HidingOpening, sum_of_the_mask_makes_up_for_no_false_claim) {
  const FrozenChallenges frozen;
  const OpeningValues values(1);
  const Digest seed = seed_of("lie");
  HidingOpening opening({{4, 1}, {3, 1}, 208, 208}, values, seed);
  const ProverTranscript transcript = opening.prove(opening.draw(1));
  const E lie = E::from_signed(5);
  const Drawn drawn(seed, opening.schedule());
  const E false_by = drawn.gamma * lie * two_to_the_minus(drawn.rounds);
  const auto sum = std::ranges::find(transcript.messages(), "vector mask", &Message::label);
  ASSERT_NE(sum, transcript.messages().end());
  const auto accepted = [&](E more) {
    std::vector<std::uint8_t> payload = transcript.payload();
    std::array<E, 1> sent{more};
    sent[0] += E{F::from_canonical(read_little_endian<std::uint64_t>(payload.data() + sum->offset)),
                 F::from_canonical(read_little_endian<std::uint64_t>(payload.data() + sum->offset + sizeof(F)))};
    std::ranges::copy(encode(std::span<const E>(sent)), payload.begin() + static_cast<std::ptrdiff_t>(sum->offset));
    try {
      opening.verify(payload, lie);
    } catch (const Rejected&) {
      return false;
    }
    return true;
  };
  EXPECT_FALSE(accepted({}));
  EXPECT_FALSE(accepted(-false_by));
  EXPECT_TRUE(accepted(-drawn.epsilon * false_by));
}

}  // namespace
}  // namespace tessera::test
