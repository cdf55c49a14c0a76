#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "opening/opening_steps.hpp"
#include "opening/vector_weights.hpp"

#include "../tensor/random_values.hpp"
#include "opening_verdict.hpp"

/// \file
/// Codes have the dimension that their words need, not the next power of two: positions are counted for it, so that no
/// word may have a coefficient beyond.

namespace tessera::test {
namespace {

constexpr OracleParameters degree_parameters{4, 1};
/// Chunks of 8 columns: 40976 values of v_0, in 2561 columns; 161 of v_1, whose last one has one value.
constexpr std::size_t degree_chunks = 5122;

OracleLayout layout_of(std::size_t count) {
  return OracleLayout({Shape({Dimension::outer(count), Dimension::whole(128)})});
}

/// One tensor of that many chunks, committed, and a claim on chunk 5.
struct Case {
  SelfCommunicator comm;
  OracleLayout layout;
  ChunkedTensor<std::int16_t> tensor;
  std::unique_ptr<CodewordStore> store;
  std::vector<CommittedOracle> oracles;
  std::vector<OracleWitness> witnesses;
  std::vector<std::vector<Claim>> claims;

  /// `last`: every value of chunk number `chunks`, if there is one.
  explicit Case(std::size_t count, std::int16_t last = 0, const OracleParameters& parameters = degree_parameters)
      : layout(layout_of(count)),
        tensor(filled<std::int16_t>(layout.tensors()[0], {}, 3, comm)),
        claims{{{{0, {Factor::one_hot(13, 5), Factor::ones(7)}}, E::zero()}}} {
    if (count > degree_chunks) {
      std::ranges::fill(tensor.chunk(degree_chunks), last);
    }
    for (const std::int16_t value : tensor.chunk(5)) {
      claims[0][0].value += E::from_signed(value);
    }
    store = commit_oracle(layout, parameters, std::vector<IntegerTensor>{&tensor}, comm);
    oracles = {{layout, parameters, store->root()}};
    witnesses = {{{&tensor}, store.get()}};
  }
};

TEST(Degree, schedules_count_what_is_used) {
  const Case made(degree_chunks);
  const OpeningSchedule schedule = opening_schedule(made.oracles);
  EXPECT_EQ(schedule.oracles[0].columns, 40976U);
  EXPECT_EQ(schedule.oracles[0].log_domain(), 17U);
  EXPECT_EQ(schedule.oracles[0].rate, 321U);  // a bit over 5/16, where 2^16 columns would make a half
  EXPECT_EQ(schedule.oracles[0].positions, 139U);
  ASSERT_EQ(schedule.vectors.size(), 2U);
  EXPECT_EQ(schedule.vectors[0].columns, 2561U);
  EXPECT_EQ(schedule.vectors[1].columns, 161U);
  EXPECT_EQ(schedule.vectors[0].domain().points(), 34U << 9);  // 20/3 a column are 17074
  EXPECT_EQ(schedule.vectors[1].domain().points(), 34U << 8);
  EXPECT_EQ(schedule.clear_size, 161U);
}

/// A proof of the case's claims with columns of this store, and with `beyond` in v_0 behind the last segment.
/// Everything else is done honestly.
std::vector<std::uint8_t> prove_with(Case& made, CodewordStore* store, std::span<const E> beyond,
                                     const std::function<void(OpeningSchedule&)>& change = {}) {
  OpeningSchedule schedule = opening_schedule(made.oracles);
  if (change) {
    change(schedule);
  }
  ProverTranscript transcript(opening_seed);
  const Transcript::Scope scope = transcript.scope("opening");
  const OpeningRun run{transcript, schedule, made.comm};
  const ClaimBatch batch = batch_claims(made.oracles, made.claims, transcript.challenge("batch claims"));
  const auto [claim, bound] = bind_row_variables(run, made.oracles, made.witnesses, batch);
  const ResidueShares shares = shares_of_first_vector(schedule, made.comm);
  ZeroedVector<E> values = first_vector(schedule, made.oracles, made.witnesses, bound, shares, made.comm);
  EXPECT_GE(values.size(), schedule.vector_size + beyond.size());
  std::ranges::copy(beyond, values.begin() + static_cast<std::ptrdiff_t>(schedule.vector_size));
  VectorSummand vector(std::move(values), claim_weights(schedule, made.oracles, batch, bound, shares), shares,
                       made.comm);
  ProverMasking none;
  prove_vectors(run, vector, {claim, bound}, std::span(&store, 1), none);
  return transcript.payload();
}

TEST(Degree, a_coefficient_of_an_oracle_beyond_its_columns_is_rejected) {
  for (const OracleParameters& parameters : {degree_parameters, OracleParameters{4, 1, 0, 13}}) {
    Case made(degree_chunks, 0, parameters);
    for (const std::int16_t value : std::initializer_list<std::int16_t>{0, 1}) {
      const Case longer(degree_chunks + 1, value, parameters);  // 8 columns more, in which these values stand
      std::vector<CommittedOracle> oracles = made.oracles;
      oracles[0].root = longer.oracles[0].root;
      // rows that are all `value` are bound to it
      const std::vector<std::uint8_t> payload =
          prove_with(made, longer.store.get(), std::vector<E>(8, E::from_signed(value)));
      EXPECT_EQ(opening_verdict(payload, oracles, made.claims), value == 0 ? "" : final_check);
    }
  }
}

/// A word in pieces is opened at its own points: a verifier that took a leaf's number for its point's would refuse it,
/// and columns at other points of the same polynomials are others.
TEST(Degree, leaves_of_a_domain_in_pieces_are_at_their_points) {
  const OracleParameters in_pieces{4, 1, 0, 13};
  Case made(degree_chunks, 0, in_pieces);
  EXPECT_EQ(opening_verdict(prove_with(made, made.store.get(), {}), made.oracles, made.claims), "");
  std::vector<CommittedOracle> oracles = made.oracles;
  for (const std::uint32_t absent : {0U, 12U, 14U}) {
    oracles[0].parameters.absent_pieces = absent;
    EXPECT_NE(opening_verdict(prove_with(made, made.store.get(), {}), oracles, made.claims), "") << absent;
  }
}

/// Of vectors, too: a prover that evaluates one on more, fewer or all points is refused, whatever it opens.
TEST(Degree, vectors_on_other_points_are_rejected) {
  Case made(degree_chunks);
  for (const std::size_t vector : {0U, 1U}) {
    for (const std::uint32_t absent : {30U, 0U, 29U, 31U}) {  // of 64 pieces
      const std::vector<std::uint8_t> payload = prove_with(made, made.store.get(), {}, [&](OpeningSchedule& schedule) {
        schedule.vectors[vector].absent_pieces = absent;
      });
      EXPECT_EQ(opening_verdict(payload, made.oracles, made.claims).empty(), absent == 30) << vector << ", " << absent;
    }
  }
}

TEST(Degree, a_value_of_a_vector_beyond_its_segments_is_rejected) {
  Case made(degree_chunks);
  for (const E& value : {E::zero(), E::one()}) {
    const std::vector<std::uint8_t> payload = prove_with(made, made.store.get(), {&value, 1});
    EXPECT_EQ(opening_verdict(payload, made.oracles, made.claims), value == E::zero() ? "" : final_check);
  }
}

TEST(Degree, segments_lie_side_by_side_at_multiples_of_their_chunks) {
  const auto oracle = [](std::size_t count, unsigned log_chunk, unsigned log_rows) {
    return CommittedOracle{
        OracleLayout({Shape({Dimension::outer(count), Dimension::whole(std::size_t{1} << log_chunk)})}),
        {log_rows, 1},
        {}};
  };
  // 3*2^14, 5 and 3*2^9 columns, in units of 2^14, 2^3 and 2^11: the second's are all the columns that it may have
  const std::vector<CommittedOracle> oracles{oracle(3, 18, 4), oracle(5, 7, 7), oracle(3, 13, 4)};
  const OpeningSchedule schedule = opening_schedule(oracles);
  EXPECT_EQ(schedule.oracles[0].offset, 0U);
  EXPECT_EQ(schedule.oracles[2].offset, 3U << 14);
  EXPECT_EQ(schedule.oracles[1].offset, (3U << 14) + (3U << 9));
  EXPECT_EQ(schedule.vector_size, (3U << 14) + (3U << 9) + 5);
}

/// Sizes whose products with the unit of rates, and whose domains, are above 2^32.
TEST(Degree, large_words) {
  const auto oracle = [](std::size_t count, unsigned log_chunk, unsigned log_rows) {
    return CommittedOracle{
        OracleLayout({Shape({Dimension::outer(count), Dimension::whole(std::size_t{1} << log_chunk)})}),
        {log_rows, 1},
        {}};
  };
  // 2^38 cells and a chunk: 2^31 columns and 2^20 of a domain of 2^33 do not fit the field; 2^37 and a chunk do
  EXPECT_THROW(opening_schedule(std::vector{oracle(1025, 28, 7)}), std::invalid_argument);
  const OpeningSchedule schedule = opening_schedule(std::vector{oracle(513, 28, 7), oracle(3, 28, 7)});
  EXPECT_EQ(schedule.oracles[0].columns, (std::uint64_t{1} << 30) + (1U << 21));
  EXPECT_EQ(schedule.oracles[0].log_domain(), 32U);
  EXPECT_EQ(schedule.oracles[0].rate, 257U);  // 2^30 + 2^21 of 2^32: 256.5/1024
  EXPECT_EQ(schedule.oracles[1].offset, (std::uint64_t{1} << 30) + (1U << 21));
  EXPECT_EQ(schedule.oracles[1].rate, 384U);
  EXPECT_EQ(schedule.vector_size, (std::uint64_t{1} << 30) + (1U << 23));
  EXPECT_EQ(schedule.log_vector, 31U);
  EXPECT_EQ(schedule.vectors[0].columns, (1U << 26) + (1U << 19));
  EXPECT_EQ(schedule.vectors[0].log_domain(), 28U);
  EXPECT_EQ(schedule.vectors[0].domain().pieces(), 49U);  // of 2^22 points, three a column
  EXPECT_EQ(schedule.vectors[0].rate, 337U);
}

/// By definition: powers on a segment, zeros elsewhere.
TEST(Degree, weights_of_powers_end_with_their_segment) {
  std::mt19937_64 random(8);
  const auto draw = [&] { return E{F::from_unsigned(random()), F::from_unsigned(random())}; };
  constexpr unsigned variables = 6;
  for (int i = 0; i < 200; ++i) {
    const std::size_t offset = i % 3 == 0 ? 0 : random() % 64;
    const std::size_t length = i % 5 == 0 ? 64 - offset : random() % (64 - offset) + 1;
    Point point(variables);
    std::ranges::generate(point, draw);
    const PowerClaims claims{.first_variable = 0,
                             .length = length,
                             .offset = offset,
                             .points = {F::from_unsigned(random()), F::root_of_unity(9).power(random())},
                             .values = {},
                             .coefficients = {draw(), draw()}};
    const std::vector<E> weights = eq_table(point);
    E expected;
    for (std::size_t k = 0; k < 2; ++k) {
      for (std::size_t x = 0; x < length; ++x) {
        expected += claims.coefficients[k] * weights[offset + x] * claims.points[k].power(x);
      }
    }
    EXPECT_EQ(claims.weight_at(point), expected) << offset << " " << length;
  }
}

}  // namespace
}  // namespace tessera::test
