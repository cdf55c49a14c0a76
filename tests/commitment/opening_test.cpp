#include <gtest/gtest.h>

#include <mutex>

#include "opening_case.hpp"

namespace tessera {
namespace {

using testing::OpeningCase;
using testing::ThreadRanks;

const Digest seed = blake2s({});

std::vector<std::uint8_t> prove(const OpeningCase& data, std::span<const OracleWitness> witnesses,
                                const std::vector<std::vector<Claim>>& claims, Communicator& comm) {
  ProverTranscript transcript(seed);
  prove_opening(transcript, data.oracles, witnesses, claims, comm);
  return transcript.payload();
}

/// "" if accepted, else why not.
std::string verdict(std::span<const std::uint8_t> payload, std::span<const CommittedOracle> oracles,
                    const std::vector<std::vector<Claim>>& claims) {
  VerifierTranscript transcript(seed, payload);
  try {
    verify_opening(transcript, oracles, claims);
    transcript.finish();
    return "";
  } catch (const Rejected& rejected) {
    return rejected.what();
  }
}

/// One honest proof, shared by the tests of lies.
class Opening : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    static SelfCommunicator self;
    comm = &self;
    data = new OpeningCase(self);
    claims = new std::vector<std::vector<Claim>>(testing::random_claims(*data));
    payload = new std::vector<std::uint8_t>(prove(*data, data->witnesses, *claims, self));
  }
  static void TearDownTestSuite() {
    delete payload;
    delete claims;
    delete data;
  }
  static std::string verdict_of(std::span<const std::uint8_t> bytes) { return verdict(bytes, data->oracles, *claims); }

  inline static Communicator* comm = nullptr;
  inline static OpeningCase* data = nullptr;
  inline static std::vector<std::vector<Claim>>* claims = nullptr;
  inline static std::vector<std::uint8_t>* payload = nullptr;
};

constexpr const char* final_check = "the opening's final claim does not hold";
constexpr const char* root_check = "opened columns do not lead to the committed root";
constexpr const char* clear_check = "the clear vector differs from an opened column";

TEST_F(Opening, HonestProofIsAccepted) { EXPECT_EQ(verdict_of(*payload), ""); }

TEST_F(Opening, PayloadIsTheSameForAnyNumberOfRanks) {
  for (int ranks = 2; ranks <= 4; ++ranks) {
    std::mutex mutex;
    ThreadRanks::run(ranks, [&](Communicator& rank_comm) {
      OpeningCase sharded(rank_comm);
      const std::vector<std::uint8_t> bytes = prove(sharded, sharded.witnesses, *claims, rank_comm);
      const std::scoped_lock lock(mutex);
      EXPECT_EQ(sharded.oracles[0].root, data->oracles[0].root);
      EXPECT_EQ(sharded.oracles[1].root, data->oracles[1].root);
      EXPECT_TRUE(bytes == *payload) << ranks;
    });
  }
}

TEST_F(Opening, EveryWrongClaimIsRejected) {
  for (std::size_t j = 0; j < 2; ++j) {
    for (std::size_t i = 0; i < (*claims)[j].size(); ++i) {
      std::vector<std::vector<Claim>> wrong = *claims;
      wrong[j][i].value += E::one();
      // an honest payload and a prover that follows the lie
      EXPECT_EQ(verdict(*payload, data->oracles, wrong), final_check);
      if (i % 5 == 0) {
        EXPECT_EQ(verdict(prove(*data, data->witnesses, wrong, *comm), data->oracles, wrong), final_check);
      }
    }
  }
}

}  // namespace
}  // namespace tessera
