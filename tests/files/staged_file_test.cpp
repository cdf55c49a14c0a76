#include <gmock/gmock.h>
#include <unistd.h>

#include "base/errors.hpp"
#include "files/child.hpp"
#include "files/staged_file.hpp"
#include "files/temporary.hpp"

#include "temporary_directory.hpp"

namespace tessera::test {
namespace {

namespace fs = std::filesystem;

TEST(Links, what_they_lead_to_is_written) {
  const TemporaryDirectory folder;
  fs::create_directory(folder / "below");
  const std::vector<std::uint8_t> bytes{1, 2, 3};
  for (const bool exists : {false, true}) {
    fs::remove(folder / "second");
    fs::remove(folder / "first");
    fs::create_symlink("below/file", folder / "second");
    fs::create_symlink(folder / "second", folder / "first");
    EXPECT_EQ(fs::exists(folder / "below/file"), exists);
    write_file(folder / "first", bytes);
    EXPECT_TRUE(fs::is_symlink(folder / "first"));
    EXPECT_TRUE(fs::is_symlink(folder / "second"));
    EXPECT_EQ(read_bytes(folder / "below/file").size(), bytes.size());
    EXPECT_EQ(folder.entries(), 3U);
  }
  fs::create_symlink("nowhere/file", folder / "lost");
  fs::create_symlink("round", folder / "round");
  EXPECT_THROW(write_file(folder / "lost", bytes), InputError);
  EXPECT_THROW(write_file(folder / "round", bytes), InputError);
  EXPECT_THROW(static_cast<void>(through_links(folder / "round")), InputError);
  EXPECT_EQ(through_links(folder / "below/"), folder / "below");
}

TEST(StagedFile, abandoned_writing_leaves_nothing) {
  const TemporaryDirectory folder;
  {
    StagedFile file(folder / "a");
    file.reserve(5);
    ASSERT_TRUE(write_all(file.descriptor(), "12345"));
    EXPECT_EQ(folder.entries(), 1U);
  }
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(StagedFile, is_cut_and_put_in_place) {
  const TemporaryDirectory folder;
  write_bytes(folder / "a", "before");
  StagedFile file(folder / "a");
  file.reserve(10);
  ASSERT_TRUE(write_all(file.descriptor(), "0123456789"));
  EXPECT_EQ(read_bytes(folder / "a"), "before");
  file.put_in_place(4);
  EXPECT_EQ(read_bytes(folder / "a"), "0123");
  EXPECT_EQ(folder.entries(), 1U);
}

/// Begins to write `target` in a child process, which then waits.
Child begin_in_child(const fs::path& target) {
  Child child([&](int to) {
    const StagedFile file(target);
    (void)write_all(to, "x");
    for (;;) {
      ::pause();
    }
    return 0;
  });
  char began = 0;
  EXPECT_EQ(::read(child.from(), &began, 1), 1);
  return child;
}

TEST(StagedFile, removes_what_killed_processes_left) {
  const TemporaryDirectory folder;
  const std::vector<std::uint8_t> bytes{1, 2, 3};
  std::string name;
  {
    const Child child = begin_in_child(folder / "p.h5");
    name = fs::directory_iterator(folder.path())->path().filename().string();
    EXPECT_THAT(name, testing::StartsWith("p.h5.partial-"));
    write_file(folder / "p.h5", bytes);
    EXPECT_TRUE(fs::exists(folder / name)) << "of a process that lives";
  }
  // not of this target, not of this host, not by a process at all
  const std::string process = name.substr(name.rfind('-') + 1);
  const std::string strangers[] = {"q" + name, "p.h5.partial-elsewhere-" + process, name + "x"};
  for (const std::string& other : strangers) {
    write_bytes(folder / other, "x");
  }
  EXPECT_TRUE(fs::exists(folder / name));
  write_file(folder / "p.h5", bytes);
  EXPECT_FALSE(fs::exists(folder / name));
  for (const std::string& other : strangers) {
    EXPECT_TRUE(fs::exists(folder / other)) << other;
  }
}

TEST(Temporaries, are_taken_away_by_a_process_that_is_told_to_end) {
  const TemporaryDirectory folder;
  Child child([&](int /*to*/) -> int {
    const StagedFile file(folder / "a");
    const StagedFile placed(folder / "b");
    fs::create_directories(temporary_beside(folder / "c") / "below");
    register_temporary(temporary_beside(folder / "c"));
    unregister_temporary(placed.path());
    remove_temporaries();
    const bool gone = !fs::exists(file.path()) && !fs::exists(temporary_beside(folder / "c"));
    _exit(gone && fs::exists(placed.path()) ? 0 : 1);
  });
  EXPECT_TRUE(child.wait().good());
}

}  // namespace
}  // namespace tessera::test
