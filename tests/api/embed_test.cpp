// Sees the public headers alone, as a program that embeds the library does.
#include <gtest/gtest.h>

#include <tessera/archive.hpp>
#include <tessera/errors.hpp>
#include <tessera/prove.hpp>
#include <tessera/verify.hpp>

#include <cstdlib>

namespace {

using namespace tessera;

/// The folder that cli/api_test.sh makes: a model, its commitment and a proof.
std::filesystem::path folder() {
  const char* path = std::getenv("TESSERA_EMBED");
  return path == nullptr ? "" : path;
}

TEST(PublicApi, VerifiesAProofFromFilesAndSeesAnAlteredOne) {
  const std::vector<std::uint8_t> key = read_key(folder() / "commitment" / "verifying.key");
  StoredProof proof = read_proof(folder() / "proof.h5");
  EXPECT_TRUE(verify(key, proof.statement, proof.payload).accepted);
  EXPECT_FALSE(decode(key, proof.statement.generated).empty());
  proof.payload[proof.payload.size() / 2] ^= 1;
  const Verdict verdict = verify(key, proof.statement, proof.payload);
  EXPECT_FALSE(verdict.accepted);
  EXPECT_FALSE(verdict.reason.empty());
  EXPECT_THROW((void)verify(std::span(key).first(100), proof.statement, proof.payload), InputError);
  EXPECT_THROW((void)decode(key, std::vector<std::uint32_t>{1U << 30}), InputError);
}

TEST(PublicApi, ProvesWhatTheProgramProves) {
  SelfCommunicator comm;
  const StoredProof stored = read_proof(folder() / "proof.h5");
  const ProveRequest request{folder() / "model.h5", folder() / "commitment", stored.statement.prompt,
                             stored.statement.generated.size()};
  const StoredProof made = prove(request, comm);
  EXPECT_EQ(made.payload, stored.payload);
  EXPECT_EQ(made.statement, stored.statement);
  EXPECT_EQ(made.key_digest, stored.key_digest);
  const ProveRequest first{request.model, request.commitment, {17, 42, 5}, 3, {}, folder() / "state"};
  const StoredProof beginning = prove(first, comm);
  const StoredProof next = prove({request.model, request.commitment, {8}, 2, folder() / "state", {}}, comm);
  const std::vector<std::uint8_t> key = read_key(folder() / "commitment" / "verifying.key");
  const Verdict verdict = verify(key, beginning.statement, beginning.payload);
  EXPECT_TRUE(verdict.accepted);
  ASSERT_TRUE(next.statement.start);
  EXPECT_EQ(verdict.kept, next.statement.start);
  EXPECT_TRUE(verify(key, next.statement, next.payload, verdict.kept).accepted);
  EXPECT_FALSE(verify(key, next.statement, next.payload).accepted);  // alone
  EXPECT_FALSE(verify(key, beginning.statement, beginning.payload, verdict.kept).accepted);
  for (const std::string name : {"damaged", "hidden"}) {  // it leaves nothing: no proof, no state
    const ProveRequest bad{request.model,
                           folder() / name,
                           {17, 42, 5},
                           3,
                           {},
                           name == "damaged" ? folder() / "none" : std::filesystem::path()};
    try {
      (void)prove(bad, comm);
      ADD_FAILURE() << name;
    } catch (const JobError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("the proof that was just made is rejected at /opening"))
          << error.what();
    }
    EXPECT_FALSE(std::filesystem::exists(folder() / "none"));
  }
  ProveRequest none = request;
  none.prompt = {};
  EXPECT_THROW((void)prove(none, comm), InputError);
}

}  // namespace
