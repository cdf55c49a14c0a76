#include <gtest/gtest.h>

#include "base/little_endian.hpp"
#include "protocol/protocol.hpp"

namespace tessera::test {
namespace {

/// The seed as src/spec/protocol.md, section 1, has it.
Digest seed_of(const VerifyingKey& key, const Statement& statement, const std::vector<std::uint32_t>& more = {}) {
  const std::string name = "tessera";
  std::vector<std::uint8_t> bytes(name.begin(), name.end());
  append_little_endian<std::uint32_t>(bytes, 19);
  const Digest digest = key.digest();
  bytes.insert(bytes.end(), digest.begin(), digest.end());
  for (const auto* ids : {&statement.prompt, &statement.generated}) {
    append_little_endian<std::uint64_t>(bytes, ids->size());
    for (const std::uint32_t id : *ids) {
      append_little_endian(bytes, id);
    }
  }
  for (const std::uint32_t number : more) {
    append_little_endian(bytes, number);
  }
  return blake2s(bytes);
}

TEST(Seed, holds_version_key_lengths_and_ids) {
  VerifyingKey key;
  for (const Statement& statement : {Statement{{1, 2}, {3}}, Statement{{1}, {2, 3}}, Statement{{70000}, {}}}) {
    EXPECT_EQ(statement_seed(key, statement), seed_of(key, statement));
  }
  for (const std::uint32_t length : {1, 128}) {  // flags and length at the end
    Statement statement{{1, 2}, {3}};
    statement.pass_length = length;
    EXPECT_EQ(statement_seed(key, statement), seed_of(key, statement, {4, length}));
    statement.keeps = true;
    EXPECT_EQ(statement_seed(key, statement), seed_of(key, statement, {6, length}));
  }
  for (const std::uint32_t length : {0, 16}) {  // how tokens are drawn, behind the length
    Statement statement{{1, 2}, {3}};
    statement.pass_length = length;
    Sampling& sampling = statement.sampling.emplace(Sampling{5851, 40, 62259, 12000, {}});
    sampling.seed.fill(1);
    std::vector<std::uint32_t> more{length == 0 ? 8U : 12U};
    if (length != 0) {
      more.push_back(length);
    }
    more.insert(more.end(), {1, 5851, 40, 62259, 12000});
    more.resize(more.size() + 8, 0x01010101);
    EXPECT_EQ(statement_seed(key, statement), seed_of(key, statement, more));
    sampling.top_k = 0;  // from the whole vocabulary
    sampling.top_p = 65536;
    const std::size_t mode = length == 0 ? 1 : 2;
    more[mode] = 2;
    more[mode + 2] = 0;
    more[mode + 3] = 65536;
    EXPECT_EQ(statement_seed(key, statement), seed_of(key, statement, more));
  }
  ++key.filler;
  EXPECT_EQ(statement_seed(key, {{1}, {2}}), seed_of(key, {{1}, {2}}));
}

}  // namespace
}  // namespace tessera::test
