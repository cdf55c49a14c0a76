#include <gmock/gmock.h>

#include <random>

#include "archive/key_file.hpp"
#include "archive/proof_file.hpp"
#include "datasets/image_file.hpp"

#include "samples.hpp"
#include "../files/temporary_directory.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

/// What a file holds, digests of its bytes included, or nothing if it is refused.
std::string content_of(const DatasetFile& file) {
  file.check_all();
  std::string text = file.format() + to_hex(file.digest());
  for (const auto& [name, info] : file.datasets()) {
    text += '\n' + name + ' ' + info.type.to_string() + to_string(info.extents) + to_hex(info.digest);
  }
  return text;
}

std::string by_library(const std::filesystem::path& path) {
  try {
    return content_of(ReadFile(path));
  } catch (const InputError&) {
    return "";
  }
}

std::string from_memory(const std::string& bytes) {
  try {
    return content_of(ImageFile("image", {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, {}));
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("image: "));
    return "";
  }
}

class ImageFileTest : public testing::Test {
 protected:
  void expect_same(const std::string& bytes, const std::string& what) {
    write_bytes(directory_ / "file.h5", bytes);
    const std::string found = from_memory(bytes);
    EXPECT_EQ(found, by_library(directory_ / "file.h5")) << what;
    ++(found.empty() ? refused_ : taken_);
  }
  std::string whole() {
    save_proof(directory_ / "whole.h5", small_proof());
    return read_bytes(directory_ / "whole.h5");
  }
  TemporaryDirectory directory_;
  std::size_t taken_ = 0;
  std::size_t refused_ = 0;
};

TEST_F(ImageFileTest, reads_what_the_library_reads) {
  EXPECT_NE(from_memory(whole()), "");
  expect_same(whole(), "proof");
}

/// More links than a node of their B-tree and a block of their heap have room for, and names of all lengths.
TEST_F(ImageFileTest, reads_groups_of_many_links) {
  for (const std::size_t count : {1, 10, 45, 46, 300, 2000}) {
    WriteFile file(directory_ / "many.h5", "tessera many");
    for (std::size_t i = 0; i < count; ++i) {
      file.write_scalar<std::uint32_t>("group/" + std::to_string(i) + std::string(i % 90, 'x'),
                                       static_cast<std::uint32_t>(i));
    }
    file.commit();
    const std::string bytes = read_bytes(directory_ / "many.h5");
    EXPECT_NE(from_memory(bytes), "") << count;
    expect_same(bytes, std::to_string(count) + " links");
  }
}

TEST_F(ImageFileTest, damage_is_the_same_to_both) {
  const std::string bytes = whole();
  std::mt19937_64 random(2);
  for (std::size_t i = 0; i < 1500; ++i) {
    std::string damaged = bytes;
    for (std::size_t flips = 1 + i % 3; flips > 0; --flips) {
      damaged[random() % damaged.size()] ^= static_cast<char>(1U << (random() % 8));
    }
    expect_same(damaged, "case " + std::to_string(i));
  }
  for (std::size_t length = 0; length < bytes.size(); length += 97) {
    expect_same(bytes.substr(0, length), "the first " + std::to_string(length) + " bytes");
  }
  EXPECT_GT(taken_, 100U);
  EXPECT_GT(refused_, 500U);
}

TEST_F(ImageFileTest, another_format_and_too_many_bytes_are_refused) {
  const std::string bytes = whole();
  const std::span<const std::uint8_t> image(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  EXPECT_EQ(read_proof(ImageFile("image", image, proof_format)).payload, small_proof().payload);
  EXPECT_THROW(ImageFile("image", image, key_format), InputError);
  EXPECT_THROW(ImageFile("image", image, proof_format, bytes.size() - 1), InputError);
}

}  // namespace
}  // namespace tessera::test
