#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "base/errors.hpp"
#include "checkpoints/checkpoint.hpp"
#include "checkpoints/gguf/tokenizer.hpp"

#include "../model/model_files.hpp"
#include "mutation.hpp"

namespace tessera::test {
namespace {

/// Half of the time the whole file, else the header alone, where nearly everything stands that can be wrong.
Bytes mutate_gguf(std::mt19937_64& random, const Bytes& good, std::size_t header) {
  if (random() % 2 == 0) {
    return mutate(random, good);
  }
  Bytes bytes = good;
  if (random() % 2 == 0) {  // a count, a length, an offset
    constexpr std::array<std::uint64_t, 8> words{0, 1, 31, 32, 0xFFFF, 1ULL << 32U, 1ULL << 60U, ~0ULL};
    const std::uint64_t word = words[random() % words.size()];
    std::memcpy(bytes.data() + random() % (header - sizeof word), &word, 1 + random() % sizeof word);
    return bytes;
  }
  Bytes changed = mutate(random, Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header)));
  changed.insert(changed.end(), bytes.begin() + static_cast<std::ptrdiff_t>(header), bytes.end());
  return changed;
}

class GgufFuzz : public ::testing::TestWithParam<std::string> {};

TEST_P(GgufFuzz, mutated_files_are_read_or_refused_in_one_line) {
  const TemporaryFolder folder;
  const std::filesystem::path source = std::filesystem::path(TESSERA_SOURCE_DIR) / "tests/gguf" / GetParam();
  const std::filesystem::path target = folder.path() / "x.gguf";
  const std::string bytes = file_bytes(source);
  const Bytes good(bytes.begin(), bytes.end());
  std::size_t header = good.size();
  const GgufFile whole(source);
  for (const std::string& name : whole.names()) {
    header = std::min<std::size_t>(header, whole.entry(name).offset);
  }
  std::mt19937_64 random(20240602);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < rounds(); ++i) {
    const Bytes changed = mutate_gguf(random, good, header);
    write_file(target, std::string(changed.begin(), changed.end()));
    try {
      static_cast<void>(read_gguf_tokenizer(GgufFile(target)));
      static_cast<void>(load_checkpoint(target));
    } catch (const InputError& error) {
      const std::string message = error.what();
      ASSERT_EQ(message.find('\n'), std::string::npos) << message;
      ASSERT_TRUE(message.starts_with(target.string() + ": ")) << message;
      ++refused;
    }
  }
  EXPECT_GT(refused, rounds() / 2);
}

INSTANTIATE_TEST_SUITE_P(Files, GgufFuzz, ::testing::Values("llama.gguf", "odd-qwen-60k.gguf", "odd-40k.gguf"),
                         [](const auto& test) { return model_test_name(test).substr(0, 5); });

}  // namespace
}  // namespace tessera::test
