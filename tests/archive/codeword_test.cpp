#include <gtest/gtest.h>

#include <random>
#include <tessera/archive/codeword_file.hpp>
#include <tessera/archive/hdf5.hpp>

#include "temporary_directory.hpp"

namespace tessera::test {
namespace {

std::vector<TreeLevel> random_levels(unsigned log_columns, std::mt19937_64& random) {
  std::vector<TreeLevel> levels;
  for (unsigned level = 0; level <= log_columns; ++level) {
    levels.emplace_back(std::size_t{1} << (log_columns - level));
    for (Digest& digest : levels.back()) {
      digest[0] = static_cast<std::uint8_t>(random());
      digest[31] = static_cast<std::uint8_t>(random());
    }
  }
  return levels;
}

TEST(CodewordFiles, AnswerFromShardsAndTop) {
  const TemporaryDirectory directory;
  std::mt19937_64 random(3);
  SelfCommunicator self;
  for (const CodewordGeometry geometry : {CodewordGeometry{2, 18}, CodewordGeometry{3, 5}, CodewordGeometry{0, 0}}) {
    const std::size_t columns = std::size_t{1} << geometry.log_columns;
    std::vector<F> values(columns << geometry.log_rows);
    for (F& value : values) {
      value = F::from_unsigned(random());
    }
    const auto levels = random_levels(geometry.log_columns, random);
    save_codeword(directory.path(), geometry, 0, values, levels, Digest{7}, self);
    const std::unique_ptr<StoredCodeword> store = open_codeword(directory.path(), self);
    EXPECT_EQ(store->root(), levels.back().front());
    EXPECT_EQ(store->parameters(), Digest{7});
    const std::vector<std::size_t> positions = {0, columns - 1, columns / 2, columns / 3, 0};
    const std::vector<F> opened = store->columns(positions);
    const std::size_t rows = std::size_t{1} << geometry.log_rows;
    ASSERT_EQ(opened.size(), positions.size() * rows);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      for (std::size_t row = 0; row < rows; ++row) {
        EXPECT_EQ(opened[i * rows + row], values[positions[i] * rows + row]);
      }
    }
    for (unsigned level = 0; level <= geometry.log_columns; ++level) {
      const std::vector<std::size_t> indices = {levels[level].size() - 1, 0, levels[level].size() / 2};
      const std::vector<Digest> nodes = store->nodes(level, indices);
      for (std::size_t i = 0; i < indices.size(); ++i) {
        EXPECT_EQ(nodes[i], levels[level][indices[i]]) << level;
      }
    }
    ReadFile(directory / "codeword-00000.h5").check_all();
  }
}

TEST(CodewordFiles, MissingAndForeignShardsAreNamed) {
  const TemporaryDirectory directory;
  std::mt19937_64 random(3);
  SelfCommunicator self;
  EXPECT_THROW(open_codeword(directory.path(), self), InputError);
  const std::vector<F> values(64);
  const auto levels = random_levels(4, random);
  save_codeword(directory.path(), {2, 4}, 0, values, levels, Digest{7}, self);
  save_codeword_shard(directory.path(), {1, 5}, 0, values, random_levels(5, random)).get();
  EXPECT_THROW(open_codeword(directory.path(), self), InputError);
  std::filesystem::remove(directory / "codeword-00000.h5");
  EXPECT_THROW(open_codeword(directory.path(), self), InputError);
}

}  // namespace
}  // namespace tessera::test
