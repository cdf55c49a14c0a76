#include <gtest/gtest.h>

#include <random>
#include "archive/codeword_file.hpp"
#include "archive/hdf5.hpp"
#include "words/codeword.hpp"

#include "../files/temporary_directory.hpp"

namespace tessera::test {
namespace {

/// A codeword of random values, column after column.
std::vector<F> random_columns(const CodewordGeometry& geometry, std::mt19937_64& random) {
  std::vector<F> values(std::size_t{geometry.rows} << geometry.log_columns);
  for (F& value : values) {
    value = F::from_unsigned(random());
  }
  return values;
}

/// Writes it, alone, `at_once` rows at a time. Returns the root.
Digest save(const std::filesystem::path& directory, const CodewordGeometry& geometry, const std::vector<F>& values,
            std::size_t at_once) {
  SelfCommunicator self;
  CodewordWriter writer(directory, geometry, self);
  const std::size_t rows = geometry.rows;
  for (std::size_t first = 0; first < rows; first += at_once) {
    std::vector<F> part;
    for (std::size_t column = 0; column < values.size() / rows; ++column) {
      const auto from = values.begin() + static_cast<std::ptrdiff_t>(column * rows + first);
      part.insert(part.end(), from, from + static_cast<std::ptrdiff_t>(at_once));
    }
    writer.append(at_once, part);
  }
  return writer.finish(Digest{7});
}

TEST(CodewordFiles, answer_from_shards_and_top) {
  const TemporaryDirectory directory;
  std::mt19937_64 random(3);
  SelfCommunicator self;
  for (const CodewordGeometry geometry :
       {CodewordGeometry{16, 17}, CodewordGeometry{8, 5}, CodewordGeometry{48, 5}, CodewordGeometry{16, 0}}) {
    const std::size_t columns = std::size_t{1} << geometry.log_columns;
    const std::size_t rows = geometry.rows;
    const std::vector<F> values = random_columns(geometry, random);
    const std::vector<TreeLevel> levels = merkle_levels(hash_columns(values, rows));
    for (const std::size_t at_once : {std::size_t{8}, rows}) {
      EXPECT_EQ(save(directory.path(), geometry, values, at_once), levels.back().front());
      const std::unique_ptr<StoredCodeword> store = open_codeword(directory.path(), self);
      EXPECT_EQ(store->root(), levels.back().front());
      EXPECT_EQ(store->parameters(), Digest{7});
      const std::vector<std::size_t> positions = {0, columns - 1, columns / 2, columns / 3, 0};
      const std::vector<F> opened = store->columns(positions);
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
      const auto siblings = multiproof_siblings(distinct_positions(positions), geometry.log_columns);  // read with them
      for (unsigned level = 0; level < siblings.size(); ++level) {
        const std::vector<Digest> nodes = store->nodes(level, siblings[level]);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
          EXPECT_EQ(nodes[i], levels[level][siblings[level][i]]) << level;
        }
      }
      for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(directory.path())) {
        ReadFile(entry.path()).check_all();
      }
    }
  }
}

TEST(CodewordFiles, missing_and_foreign_shards_are_named) {
  const TemporaryDirectory directory;
  const auto ours = directory / "ours";
  const auto other = directory / "other";
  std::filesystem::create_directory(ours);
  std::filesystem::create_directory(other);
  std::mt19937_64 random(3);
  SelfCommunicator self;
  EXPECT_THROW(open_codeword(ours, self), InputError);
  save(ours, {16, 4}, random_columns({16, 4}, random), 16);
  save(other, {8, 5}, random_columns({8, 5}, random), 8);
  EXPECT_NO_THROW(open_codeword(ours, self));
  const auto shard = ours / "codeword-00000.h5";
  std::filesystem::copy_file(other / "codeword-00000.h5", shard, std::filesystem::copy_options::overwrite_existing);
  EXPECT_THROW(open_codeword(ours, self), InputError);
  std::filesystem::remove(shard);
  EXPECT_THROW(open_codeword(ours, self), InputError);
}

/// Rows that are missing or too many are the program's mistake, and leave no file.
TEST(CodewordFiles, unfinished_ones_leave_nothing) {
  const TemporaryDirectory directory;
  std::mt19937_64 random(4);
  SelfCommunicator self;
  const std::vector<F> values = random_columns({8, 5}, random);
  {
    CodewordWriter writer(directory.path(), {16, 5}, self);
    writer.append(8, values);
    EXPECT_EQ(directory.entries(), 1U);
  }
  EXPECT_EQ(directory.entries(), 0U);
  EXPECT_THROW(CodewordWriter(directory.path(), {4, 5}, self), std::invalid_argument);
}

}  // namespace
}  // namespace tessera::test
