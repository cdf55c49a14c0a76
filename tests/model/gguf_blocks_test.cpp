#include <gtest/gtest.h>

#include <cstring>

#include "checkpoints/gguf/blocks.hpp"

#include "model_files.hpp"

namespace tessera::test {
namespace {

using nlohmann::json;

TEST(GgufBlocks, values_are_bit_equal_to_the_reference) {
  const json all = gguf_block_vectors();
  ASSERT_EQ(all.size(), 7U);
  for (const auto& [name, vectors] : all.items()) {
    const std::string blocks = from_hex(vectors["blocks"].get<std::string>());
    const std::string expected = from_hex(vectors["values"].get<std::string>());
    const GgufType& type = gguf_type_of(name);
    EXPECT_EQ(find_gguf_type(type.number), &type);
    ASSERT_EQ(blocks.size() / type.bytes * type.values * sizeof(float), expected.size()) << name;
    std::vector<float> values(expected.size() / sizeof(float));
    type.dequantize(reinterpret_cast<const std::uint8_t*>(blocks.data()), blocks.size() / type.bytes, values.data());
    EXPECT_EQ(std::memcmp(values.data(), expected.data(), expected.size()), 0) << name;
  }
}

/// Bytes of a linear congruential generator, with the second bit of some bytes of each block cleared, as
/// tests/gguf/make.py has them.
std::string generated_blocks(std::size_t size, const std::vector<std::size_t>& finite) {
  constexpr std::size_t count = 1024;
  std::string blocks;
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < count * size; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    blocks.push_back(static_cast<char>(state >> 56U));
  }
  for (const std::size_t place : finite) {
    for (std::size_t start = 0; start < blocks.size(); start += size) {
      blocks[start + place] = static_cast<char>(blocks[start + place] & 0xBF);
    }
  }
  return blocks;
}

TEST(GgufBlocks, values_of_many_blocks_of_every_type_have_the_digests_of_the_reference) {
  const json all = json::parse(file_bytes(std::filesystem::path(TESSERA_SOURCE_DIR) / "tests/gguf/digests.json"));
  std::size_t known = 0;
  for (std::uint32_t number = 0; number < 100; ++number) {
    const GgufType* const type = find_gguf_type(number);
    if (type == nullptr) {
      continue;
    }
    ++known;
    const json& expected = all.at(std::string(type->name));
    const std::string blocks = generated_blocks(type->bytes, expected["finite"].get<std::vector<std::size_t>>());
    std::string values(blocks.size() / type->bytes * type->values * sizeof(float), '\0');
    type->dequantize(reinterpret_cast<const std::uint8_t*>(blocks.data()), blocks.size() / type->bytes,
                     reinterpret_cast<float*>(values.data()));
    EXPECT_EQ(sha256_hex(values), expected["sha256"].get<std::string>()) << type->name;
    EXPECT_EQ(gguf_type_name(number), type->name);
  }
  EXPECT_EQ(known, all.size());
  EXPECT_EQ(known, 28U);
}

}  // namespace
}  // namespace tessera::test
