#include <gmock/gmock.h>

#include "base/errors.hpp"
#include "files/new_directory.hpp"
#include "files/private_file.hpp"
#include "files/partial_directory.hpp"

#include "temporary_directory.hpp"

namespace tessera::test {
namespace {

namespace fs = std::filesystem;
const std::vector<std::uint8_t> some_bytes{'a', 'b'};

TEST(PrivateFile, is_its_owners_alone) {
  const TemporaryDirectory folder;
  for (const std::string content : {"first", "second, which is longer"}) {
    write_private(folder / "uses", content);
    EXPECT_EQ(read_bytes(folder / "uses"), content);
    EXPECT_EQ(fs::status(folder / "uses").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  }
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(PrivateFile, is_overwritten_and_removed) {
  const TemporaryDirectory folder;
  write_bytes(folder / "secret", std::string(3000000, 'x'));
  fs::create_hard_link(folder / "secret", folder / "other");
  wipe_file(folder / "secret");
  wipe_file(folder / "secret");  // nothing to do
  EXPECT_FALSE(fs::exists(folder / "secret"));
  EXPECT_TRUE(read_bytes(folder / "other") == std::string(3000000, 0));
}

TEST(NewDirectory, takes_its_place_when_it_is_complete) {
  const TemporaryDirectory folder;
  {
    const NewDirectory abandoned(folder / "a");
    abandoned.write("file", some_bytes);
    EXPECT_EQ(folder.entries(), 1U);
  }
  EXPECT_EQ(folder.entries(), 0U);
  NewDirectory directory(folder / "a");
  directory.write("below/file", some_bytes);
  EXPECT_FALSE(fs::exists(folder / "a"));
  directory.put_in_place();
  EXPECT_EQ(read_bytes(folder / "a/below/file"), "ab");
  EXPECT_EQ(folder.entries(), 1U);
  EXPECT_THROW(NewDirectory(folder / "a"), InputError);  // it has files
}

TEST(MovedFiles, take_the_place_of_older_ones) {
  const TemporaryDirectory folder;
  ASSERT_TRUE(make_partial_directory(folder / "new", folder / "old"));
  EXPECT_FALSE(make_partial_directory(folder / "new", folder / "old"));
  fs::create_directory(folder / "old");
  for (const char* const name : {"old/part-0", "old/part-7", "old/whole", "old/mine", "new/part-0", "new/whole"}) {
    write_bytes(folder / name, name);
  }
  move_into_place(folder / "new", folder / "old", "whole", "part-");
  EXPECT_FALSE(fs::exists(folder / "new"));
  EXPECT_FALSE(fs::exists(folder / "old/part-7"));
  EXPECT_EQ(read_bytes(folder / "old/part-0"), "new/part-0");
  EXPECT_EQ(read_bytes(folder / "old/whole"), "new/whole");
  EXPECT_EQ(read_bytes(folder / "old/mine"), "old/mine");
}

}  // namespace
}  // namespace tessera::test
