#include <gtest/gtest.h>
#include <omp.h>

#include <mutex>

#include "cluster/thread_communicator.hpp"
#include "words/codeword.hpp"
#include "opening/opening.hpp"

#include "../tensor/random_values.hpp"
#include "opening_case.hpp"
#include "opening_verdict.hpp"

/// \file
/// An opening whose v_1 is long enough for ranks to share its columns, as they do v_0's.

namespace tessera::test {
namespace {

constexpr OracleParameters long_parameters{4, 1};
/// Of 8 columns each: 263,984 values of v_0, 16,499 of v_1, whose last column has three.
constexpr std::size_t long_chunks = 32998;

struct Proven {
  std::vector<std::uint8_t> payload;
  std::vector<CommittedOracle> oracles;
  std::vector<std::vector<Claim>> claims;
};

Proven prove(Communicator& comm) {
  OracleLayout layout({Shape({Dimension::outer(long_chunks), Dimension::whole(128)})});
  const auto tensor = filled<std::int16_t>(layout.tensors()[0], {0}, 3, comm);
  const auto store = commit_oracle(layout, long_parameters, std::vector<IntegerTensor>{&tensor}, comm);
  Proven result{{}, {{layout, long_parameters, store->root()}}, {{}}};
  for (const std::size_t chunk : {std::size_t{5}, std::size_t{20000}, long_chunks - 1}) {
    E sum;
    for (std::size_t i = 0; tensor.ownership().owner(tensor.shape(), chunk, comm.size()) == comm.rank() && i < 128;
         ++i) {
      sum += E::from_signed(tensor.chunk(chunk)[i]);
    }
    comm.all_reduce_sum(std::span(&sum, 1));
    result.claims[0].push_back({{0, {Factor::one_hot(16, chunk), Factor::ones(7)}}, sum});
  }
  ProverTranscript transcript(opening_seed);
  prove_opening(transcript, result.oracles, std::vector<OracleWitness>{{{&tensor}, store.get()}}, result.claims, comm);
  result.payload = transcript.payload();
  return result;
}

TEST(LongVectors, payload_is_the_same_for_any_number_of_ranks) {
  SelfCommunicator self;
  Proven alone = prove(self);
  EXPECT_EQ(opening_verdict(alone.payload, alone.oracles, alone.claims), "");
  for (const int ranks : {2, 3, 4}) {
    std::mutex mutex;
    run_ranks(ranks, [&](Communicator& comm) {
      const std::vector<std::uint8_t> payload = prove(comm).payload;
      const std::scoped_lock lock(mutex);
      EXPECT_TRUE(payload == alone.payload) << ranks;
    });
  }
  alone.claims[0][1].value += E::one();
  EXPECT_NE(opening_verdict(alone.payload, alone.oracles, alone.claims), "");
}

/// Three chunks of 2^15 columns each, as an embedding has a few large ones: threads share the columns of one.
std::vector<std::uint8_t> prove_large_chunks(Communicator& comm, bool right = true) {
  const OracleLayout layout({Shape({Dimension::whole(1 << 14), Dimension::tiled(96)})});
  const auto tensor = filled<std::int16_t>(layout.tensors()[0], {}, 4, comm);
  const auto store = commit_oracle(layout, long_parameters, std::vector<IntegerTensor>{&tensor}, comm);
  const std::vector<CommittedOracle> oracles{{layout, long_parameters, store->root()}};
  std::vector<std::vector<Claim>> claims(1);
  for (std::uint64_t i = 0; i < 2; ++i) {
    std::vector<E> rows, columns(128);
    for (std::uint64_t row = 0; row < 1 << 14; ++row) {
      rows.push_back({F::from_unsigned(row * (i + 3)), F::from_unsigned(row + 1)});
    }
    std::copy_n(rows.begin(), 96, columns.begin());
    const std::vector<Factor> weight{Factor::of(std::move(rows)), Factor::of(std::move(columns))};
    claims[0].push_back({{0, weight}, OpeningCase::naive_value(&tensor, weight) + (right ? E() : E::one())});
  }
  ProverTranscript transcript(opening_seed);
  prove_opening(transcript, oracles, std::vector<OracleWitness>{{{&tensor}, store.get()}}, claims, comm);
  EXPECT_EQ(opening_verdict(transcript.payload(), oracles, claims).empty(), right);
  return transcript.payload();
}

TEST(LongVectors, large_chunks_are_opened_by_any_number_of_threads) {
  SelfCommunicator self;
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const std::vector<std::uint8_t> alone = prove_large_chunks(self);
  omp_set_num_threads(3);
  EXPECT_TRUE(prove_large_chunks(self) == alone);
  prove_large_chunks(self, false);
  omp_set_num_threads(threads);
}

}  // namespace
}  // namespace tessera::test
