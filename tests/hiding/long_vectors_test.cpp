#include <gtest/gtest.h>

#include <mutex>

#include "cluster/thread_communicator.hpp"
#include "words/salted_leaves.hpp"
#include "opening/vector_masks.hpp"
#include "plan/hiding.hpp"
#include "plan/hiding_witness.hpp"
#include "seed.hpp"

#include "../tensor/random_values.hpp"

/// \file
/// A hiding opening whose v_1 is long enough for ranks to share its columns, fresh ones among them.

namespace tessera::test {
namespace {

constexpr unsigned long_log_rows = 4, long_mask_rows = 3;
/// Of 8 columns each: 264,000 values of v_0 in two segments.
constexpr std::size_t chunks = 16500;

struct Proven {
  std::vector<std::uint8_t> payload;
  std::vector<CommittedOracle> oracles;
};

LinearForm form() { return {0, {Factor::at(Point(15, E::from_signed(3))), Factor::ones(7)}}; }

/// That two commitments hold the same tensor.
Proven prove(Communicator& comm) {
  const Shape shape({Dimension::outer(chunks), Dimension::whole(128)});
  const auto tensor = filled<std::int16_t>(shape, {0}, 3, comm);
  const Shape tail_shape = columns_shape(parameter_tail_columns(1), long_log_rows);
  const std::array<ChunkedTensor<std::int64_t>, 2> tails{
      random_columns(tail_shape, KeyedStream(seed_of("old"), "tail"), comm),
      random_columns(tail_shape, KeyedStream(seed_of("new"), "tail"), comm)};
  const auto leaves =
      std::make_shared<SaltedLeaves>(std::make_shared<KeyedStream>(seed_of("salt"), "salt"), salt_elements);
  Proven result;
  std::vector<std::unique_ptr<CodewordStore>> stores;
  std::vector<OracleWitness> witnesses;
  const auto commit = [&](const OracleLayout& layout, unsigned rows, std::vector<IntegerTensor> tensors) {
    stores.push_back(commit_oracle(layout, {rows, 1}, tensors, comm, default_codeword_budget, leaves));
    result.oracles.push_back({layout, {rows, 1}, stores.back()->root(), salt_elements});
    witnesses.push_back({std::move(tensors), stores.back().get()});
  };
  for (const auto& tail : tails) {
    commit(OracleLayout({shape, tail_shape}), long_log_rows, {&tensor, &tail});
  }
  const Shape row_shape = columns_shape(2 * hiding_row_masks(long_log_rows), long_mask_rows);
  const Shape mask_tail = columns_shape(parameter_tail_columns(1), long_mask_rows);
  const MaskColumns masks(row_shape, mask_tail, long_log_rows, {long_mask_rows, 1}, seed_of("masks"), comm);
  commit(OracleLayout({row_shape, mask_tail}), long_mask_rows, masks.tensors());
  const KeyedStream stream(seed_of("vectors"), "vector masks");
  const VectorMasks vectors(stream);
  const LinearForm same = form();
  ProverTranscript transcript(seed_of("long"));
  prove_equality_opening(transcript, result.oracles, witnesses, std::span(&same, 1), 0, {masks.row_masks(), &vectors},
                         comm);
  result.payload = transcript.payload();
  return result;
}

TEST(HidingLongVectors, payload_is_the_same_for_any_number_of_ranks) {
  SelfCommunicator self;
  const Proven alone = prove(self);
  VerifierTranscript verifier(seed_of("long"), alone.payload);
  const LinearForm same = form();
  EXPECT_NO_THROW(verify_equality_opening(verifier, alone.oracles, std::span(&same, 1), 0));
  EXPECT_NO_THROW(verifier.finish());
  EXPECT_GT(opening_schedule(alone.oracles).vectors.size(), 1U);
  for (const int ranks : {2, 3, 4}) {
    std::mutex mutex;
    run_ranks(ranks, [&](Communicator& comm) {
      const std::vector<std::uint8_t> payload = prove(comm).payload;
      const std::scoped_lock lock(mutex);
      EXPECT_TRUE(payload == alone.payload) << ranks;
    });
  }
}

}  // namespace
}  // namespace tessera::test
