#include <gmock/gmock.h>

#include <random>
#include "base/errors.hpp"
#include "archive/proof_file.hpp"

#include "samples.hpp"
#include "../files/temporary_directory.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

/// True if the damaged bytes are refused with an InputError; anything else than that or acceptance ends the test.
bool refuses(const std::filesystem::path& path, const std::string& bytes) {
  write_bytes(path, bytes);
  try {
    (void)load_proof(path);
    return false;
  } catch (const InputError&) {
    return true;
  }
}

TEST(DamagedFile, every_truncation_is_refused) {
  const TemporaryDirectory directory;
  save_proof(directory / "p.h5", small_proof());
  const std::string whole = read_bytes(directory / "p.h5");
  for (std::size_t length = 0; length < whole.size(); length += length < 600 ? 7 : 61) {
    EXPECT_TRUE(refuses(directory / "t.h5", whole.substr(0, length))) << length;
  }
}

TEST(DamagedFile, random_damage_is_refused_or_changes_nothing) {
  const TemporaryDirectory directory;
  const ProofArchive proof = small_proof();
  save_proof(directory / "p.h5", proof);
  const std::string whole = read_bytes(directory / "p.h5");
  std::mt19937_64 random(1);
  std::size_t refused = 0;
  constexpr std::size_t cases = 4000;
  for (std::size_t i = 0; i < cases; ++i) {
    std::string bytes = whole;
    for (std::size_t flips = 1 + i % 4; flips > 0; --flips) {
      bytes[random() % bytes.size()] ^= static_cast<char>(1U << (random() % 8));
    }
    if (refuses(directory / "d.h5", bytes)) {
      ++refused;
    } else {  // a bit that nothing uses
      const ProofArchive read = load_proof(directory / "d.h5");
      EXPECT_EQ(read.payload, proof.payload);
      EXPECT_EQ(read.statement, proof.statement);
      EXPECT_EQ(read.text, proof.text);
    }
  }
  EXPECT_GT(refused, cases / 2);
}

TEST(DamagedFile, text_and_bytes_of_others_are_refused) {
  const TemporaryDirectory directory;
  EXPECT_TRUE(refuses(directory / "x", ""));
  EXPECT_TRUE(refuses(directory / "x", "hello"));
  EXPECT_TRUE(refuses(directory / "x", std::string("\x89HDF\r\n\x1a\n", 8) + std::string(5000, '\xff')));
}

TEST(DamagedFile, damage_to_any_structure_is_an_error_not_a_crash) {
  const TemporaryDirectory directory;
  save_proof(directory / "p.h5", small_proof());
  const std::string bytes = read_bytes(directory / "p.h5");
  for (std::size_t offset = 0; offset < bytes.size(); offset += 41) {
    std::string damaged = bytes;
    damaged[offset] = static_cast<char>(~damaged[offset]);
    write_bytes(directory / "damaged.h5", damaged);
    try {
      EXPECT_EQ(load_proof(directory / "damaged.h5").payload, small_proof().payload) << offset;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("damaged.h5: ")) << offset;
    }
  }
}

}  // namespace
}  // namespace tessera::test
