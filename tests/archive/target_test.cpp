#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <csignal>
#include "archive/hdf5.hpp"
#include "archive/proof_file.hpp"

#include "samples.hpp"
#include "../files/temporary_directory.hpp"

namespace tessera::test {
namespace {

using ::testing::HasSubstr;

std::vector<std::uint8_t> megabytes(std::size_t count) { return std::vector<std::uint8_t>(count << 20, 5); }

TEST(FullDisk, leaves_the_old_file_and_nothing_else) {
  const TemporaryDirectory directory;
  if (::mount("tmpfs", directory.path().c_str(), "tmpfs", 0, "size=4m") != 0) {
    GTEST_SKIP() << "needs the right to mount a small tmpfs";
  }
  ProofArchive proof = small_proof();
  save_proof(directory / "p.h5", proof);
  const std::string before = read_bytes(directory / "p.h5");
  proof.payload = megabytes(8);
  EXPECT_THROW(save_proof(directory / "p.h5", proof), JobError);
  EXPECT_EQ(directory.entries(), 1U);
  EXPECT_TRUE(read_bytes(directory / "p.h5") == before);
  write_bytes(directory / "filler", std::string(std::size_t{4} << 20, 'x'));
  EXPECT_THROW(save_proof(directory / "q.h5", small_proof()), JobError);
  EXPECT_EQ(directory.entries(), 2U);
  ::umount2(directory.path().c_str(), MNT_DETACH);
}

TEST(FullDisk, file_size_limit_is_an_error_not_a_signal) {
  const TemporaryDirectory directory;
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit limit{std::size_t{2} << 20, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  ProofArchive proof = small_proof();
  proof.payload = megabytes(8);
  EXPECT_THROW(save_proof(directory / "p.h5", proof), JobError);
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_EQ(directory.entries(), 0U);
}

TEST(UnwritableTarget, is_named) {
  const TemporaryDirectory directory;
  const auto error = [](const std::filesystem::path& path) -> std::string {
    try {
      save_proof(path, small_proof());
    } catch (const InputError& e) {
      return e.what();
    }
    return "written";
  };
  EXPECT_THAT(error(directory / "missing/p.h5"), HasSubstr("missing/p.h5: cannot be written: No such file"));
  EXPECT_THAT(error(directory.path()), HasSubstr("expected a regular file"));
  EXPECT_THAT(error("/dev/full"), HasSubstr("expected a regular file"));
  EXPECT_THAT(error("/proc/p.h5"), HasSubstr("cannot be written"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST(WriteFile, abandoned_writing_leaves_nothing) {
  const TemporaryDirectory directory;
  {
    WriteFile file(directory / "a.h5", "tessera test");
    file.write("values", megabytes(3));
  }
  EXPECT_EQ(directory.entries(), 0U);
  WriteFile file(directory / "a.h5", "tessera test");
  file.write("values", megabytes(1));
  EXPECT_THROW(file.write("values", megabytes(1)), std::logic_error);
  EXPECT_THROW(file.write("a/../b", megabytes(1)), std::logic_error);
}

}  // namespace
}  // namespace tessera::test
