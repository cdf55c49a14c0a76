#include <gmock/gmock.h>

#include "archive/isolated_archive.hpp"
#include "base/errors.hpp"

#include "samples.hpp"
#include "../files/temporary_directory.hpp"

namespace tessera::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

void expect_same(const ProofArchive& taken, const ProofArchive& proof) {
  EXPECT_EQ(taken.statement, proof.statement);
  EXPECT_EQ(taken.payload, proof.payload);
  EXPECT_EQ(taken.key_digest, proof.key_digest);
  EXPECT_EQ(taken.text, proof.text);
  EXPECT_EQ(taken.configuration, proof.configuration);
  ASSERT_EQ(taken.soundness.entries.size(), proof.soundness.entries.size());
  for (std::size_t i = 0; i < proof.soundness.entries.size(); ++i) {
    EXPECT_EQ(taken.soundness.entries[i].scope, proof.soundness.entries[i].scope);
    EXPECT_EQ(taken.soundness.entries[i].reason, proof.soundness.entries[i].reason);
    EXPECT_EQ(taken.soundness.entries[i].bits, proof.soundness.entries[i].bits);
  }
  EXPECT_EQ(taken.timings, proof.timings);
  EXPECT_EQ(taken.memory_measure, proof.memory_measure);
  EXPECT_EQ(taken.machine, proof.machine);
  EXPECT_EQ(taken.ranks, proof.ranks);
}

TEST(IsolatedArchive, gives_what_the_file_holds) {
  const TemporaryDirectory directory;
  save_proof(directory / "p.h5", small_proof());
  expect_same(load_archive_isolated(directory / "p.h5"), small_proof());
  const std::string content = read_bytes(directory / "p.h5");
  const Bytes file(content.begin(), content.end());
  expect_same(load_archive_isolated("proof", file), small_proof());
  try {
    (void)load_archive_isolated("proof", std::span(file).first(100));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("proof: "));
  }
}

TEST(IsolatedArchive, only_what_the_child_writes_is_taken) {
  ProofArchive proof = small_proof();
  proof.payload.resize(10);
  const Bytes bytes = encode_archive(proof);
  expect_same(decode_archive(bytes), proof);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW((void)decode_archive(std::span(bytes).first(size)), InputError) << size;
  }
  Bytes more = bytes;
  more.push_back(0);
  EXPECT_THROW((void)decode_archive(more), InputError);
  for (std::size_t at = 0; at < bytes.size(); ++at) {  // in a length or not: nothing but InputError comes of it
    Bytes changed = bytes;
    changed[at] = 255;
    try {
      (void)decode_archive(changed);
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("expected"));
    }
  }
}

TEST(IsolatedArchive, every_rank_has_measures_of_every_scope) {
  for (const bool seconds : {true, false}) {
    ProofArchive proof = small_proof();
    if (seconds) {
      proof.ranks.back().seconds.pop_back();
    } else {
      proof.ranks.back().peak_memory.push_back(1);
    }
    EXPECT_THROW((void)decode_archive(encode_archive(proof)), InputError);
  }
}

}  // namespace
}  // namespace tessera::test
