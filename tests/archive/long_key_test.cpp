#include <gtest/gtest.h>

#include "archive/isolated.hpp"
#include "archive/key_file.hpp"
#include "hash/dataset_hash.hpp"

#include "key_error.hpp"
#include "samples.hpp"
#include "../files/temporary_directory.hpp"

namespace tessera::test {
namespace {

/// A key of two mebibytes, of more than what is hashed in one piece, or of `merges`.
VerifyingKey long_key(std::size_t merges = 300000) {
  VerifyingKey key = small_key();
  key.tokenizer.merges.resize(merges);
  for (std::size_t i = 0; i < key.tokenizer.merges.size(); ++i) {
    key.tokenizer.merges[i] = {static_cast<std::uint32_t>(i % 3), static_cast<std::uint32_t>(i % 5)};
  }
  return key;
}

std::string identified_error_of(std::span<const std::uint8_t> bytes) {
  try {
    (void)IdentifiedKey::decode(bytes);
    return "accepted";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(LongKey, is_identified_by_the_digest_of_its_bytes) {
  for (const VerifyingKey& key : {small_key(), long_key(), long_key(600000)}) {
    const std::vector<std::uint8_t> bytes = key.encode();
    const IdentifiedKey identified = IdentifiedKey::decode(bytes);
    EXPECT_EQ(identified.digest, dataset_digest(std::as_bytes(std::span(bytes))));
    EXPECT_EQ(identified.digest, key.digest());
    EXPECT_EQ(identified.key.encode(), bytes);
  }
}

TEST(LongKey, is_refused_for_what_a_key_is_refused_for) {
  std::vector<std::uint8_t> bytes = long_key().encode();
  for (const std::size_t cut : {std::size_t{1}, std::size_t{40}, bytes.size() / 2}) {
    const auto part = std::span(bytes).first(bytes.size() - cut);
    EXPECT_NE(identified_error_of(part), "accepted") << cut;
    EXPECT_EQ(identified_error_of(part), key_error_of(part)) << cut;
  }
  bytes[0] ^= 1;
  EXPECT_NE(identified_error_of(bytes), "accepted");
  EXPECT_EQ(identified_error_of(bytes), key_error_of(bytes));
}

TEST(LongKey, comes_out_of_a_file_whole) {
  const TemporaryDirectory directory;
  for (const VerifyingKey& key : {small_key(), long_key()}) {
    save_key(directory / "k", key);
    const IdentifiedKey loaded = load_key_isolated(directory / "k");
    EXPECT_EQ(loaded.digest, key.digest());
    EXPECT_EQ(loaded.key.encode(), key.encode());
  }
}

/// Its bytes are sent from where they lie, but not before they are those of the file's digests.
TEST(LongKey, of_a_damaged_file_is_refused) {
  const TemporaryDirectory directory;
  save_key(directory / "k", long_key());
  const std::string file = read_bytes(directory / "k");
  const std::vector<std::uint8_t> whole(file.begin(), file.end());
  const std::vector<std::uint8_t> bytes = long_key().encode();
  const auto begin = std::ranges::search(whole, bytes).begin() - whole.begin();
  ASSERT_LT(static_cast<std::size_t>(begin), whole.size());
  for (const std::size_t place : {std::size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
    std::vector<std::uint8_t> damaged = whole;
    damaged[static_cast<std::size_t>(begin) + place] ^= 1;
    try {
      (void)load_key_isolated(directory / "k", damaged);
      ADD_FAILURE() << "accepted with another byte " << place;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("key: expected digest"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace tessera::test
