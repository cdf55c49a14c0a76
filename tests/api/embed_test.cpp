// Sees the public headers alone, as a program that embeds the library does.
#include <gtest/gtest.h>

#include <tessera/archive.hpp>
#include <tessera/errors.hpp>
#include <tessera/expected.hpp>
#include <tessera/prove.hpp>
#include <tessera/verify.hpp>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace tessera;

/// The folder that cli/api_test.sh makes: a model, its commitment and a proof.
std::filesystem::path folder() {
  const char* path = std::getenv("TESSERA_EMBED");
  return path == nullptr ? "" : path;
}

TEST(PublicApi, verifies_a_proof_from_files_and_sees_an_altered_one) {
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

TEST(PublicApi, says_what_is_not_as_expected) {
  const std::vector<std::uint8_t> key = read_key(folder() / "commitment" / "verifying.key");
  const Statement statement = read_proof(folder() / "proof.h5").statement;
  Expected expected;
  expected.prompt = ExpectedIds{encode(key, decode(key, statement.prompt)), PromptKind::text, "the same"};
  expected.sampling.parameters = "temperature=0";
  EXPECT_EQ(unexpected(expected, statement).value_or(""), "");
  expected.sampling.parameters = "temperature=1";
  EXPECT_NE(unexpected(expected, statement), std::nullopt);
  expected = {};
  expected.prompt = ExpectedIds{encode(key, "another", false), PromptKind::text, "another"};
  EXPECT_TRUE(unexpected(expected, statement).value_or("").starts_with("the prompt is not the expected one"));
  expected = {};
  expected.sampling.opening = std::string(64, '0');
  EXPECT_THROW((void)unexpected(expected, statement), InputError);
}

void expect_conversations(std::span<const std::uint8_t> key, const StoredProof& whole, const StoredProof& beginning,
                          const StoredProof& next) {
  const auto verdict = [&](const std::vector<StoredProof>& parts) { return verify_conversation(key, parts); };
  EXPECT_TRUE(verdict({whole}).accepted);
  EXPECT_TRUE(verdict({beginning}).accepted);
  EXPECT_TRUE(verdict({beginning, next}).accepted);
  const auto expect_rejected = [&](const std::vector<StoredProof>& parts, const std::string& reason) {
    const Verdict found = verdict(parts);
    EXPECT_FALSE(found.accepted);
    EXPECT_FALSE(found.kept);
    EXPECT_EQ(found.scope, "/statement");
    EXPECT_TRUE(found.reason.starts_with(reason)) << found.reason;
  };
  expect_rejected({next}, "part 1: the proof continues a conversation");
  expect_rejected({next, beginning}, "part 1: ");
  expect_rejected({whole, whole}, "part 2: the part before it keeps no state");
  expect_rejected({whole, beginning}, "part 2: the part before it keeps no state");
  expect_rejected({whole, next}, "part 2: the part before it keeps no state");
  expect_rejected({beginning, beginning}, "part 2: it is the beginning of a conversation");
  expect_rejected({beginning, next, whole}, "part 3: the part before it keeps no state");
  StoredProof foreign = next;
  foreign.key_digest[0] ^= 1;
  expect_rejected({beginning, foreign}, "part 2: the proof was made for another verifying key");
  EXPECT_THROW((void)verdict({}), InputError);
}

TEST(PublicApi, proves_what_the_program_proves) {
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
  EXPECT_TRUE(verify_continuation(key, next.statement, next.payload, verdict.kept).accepted);
  EXPECT_FALSE(verify(key, next.statement, next.payload).accepted);  // alone
  EXPECT_FALSE(verify_continuation(key, beginning.statement, beginning.payload, verdict.kept).accepted);
  // the first proof keeps nothing: what is verified after it is no part of a conversation with it
  const Verdict whole = verify(key, stored.statement, stored.payload);
  EXPECT_TRUE(whole.accepted);
  EXPECT_FALSE(whole.kept);
  for (const StoredProof* const after : {&stored, &beginning, &next}) {
    EXPECT_FALSE(verify_continuation(key, after->statement, after->payload, whole.kept).accepted);
  }
  expect_conversations(key, stored, beginning, next);
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

/// Of a value that cannot be, what the program says: under a hiding key not which.
TEST(PublicApi, says_of_values_outside_their_ranges_what_the_program_says) {
  SelfCommunicator comm;
  const std::array<std::pair<const char*, const char*>, 2> keys{
      {{"narrow", "program.log"}, {"narrow-hidden", "program-hidden.log"}}};
  for (const auto& [commitment, log] : keys) {
    std::string line;
    std::getline(std::ifstream(folder() / log).ignore(std::string_view("tessera: ").size()), line);
    try {
      (void)prove({folder() / "narrow.h5", folder() / commitment, {17, 42, 5}, 4}, comm);
      ADD_FAILURE() << commitment;
    } catch (const JobError& error) {
      EXPECT_EQ(error.what(), line);
    }
  }
}

}  // namespace
