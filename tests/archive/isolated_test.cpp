#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include "base/errors.hpp"
#include "archive/isolated.hpp"

#include "samples.hpp"
#include "temporary_directory.hpp"

namespace tessera::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using ::testing::HasSubstr;

/// The error of reading "x.h5" with `read`.
std::string error_of(const std::function<Bytes()>& read, const IsolationLimits& limits = {}) {
  try {
    (void)read_isolated("x.h5", read, limits);
    return "none";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(Isolated, GivesWhatTheChildReads) {
  EXPECT_TRUE(read_isolated("x.h5", [] { return Bytes{}; }).empty());
  const Bytes large(std::size_t{5} << 20, 7);
  EXPECT_EQ(read_isolated("x.h5", [&] { return large; }), large);
  const TemporaryDirectory directory;
  save_proof(directory / "p.h5", small_proof());
  EXPECT_EQ(load_proof_isolated(directory / "p.h5").payload, small_proof().payload);
}

TEST(Isolated, ErrorsAndTheChildsEndAreInputErrors) {
  EXPECT_EQ(error_of([]() -> Bytes { throw JobError("x.h5: whatever"); }), "x.h5: whatever");
  EXPECT_THAT(error_of([]() -> Bytes { throw InputError(std::string(100000, 'a')); }), HasSubstr("aaa"));
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGKILL}) {
    const auto die = [signal]() -> Bytes {
      ::kill(::getpid(), signal);
      return {};
    };
    EXPECT_EQ(error_of(die), "x.h5: expected a readable file, found one that breaks the HDF5 library") << signal;
  }
  EXPECT_THAT(error_of([]() -> Bytes { ::_exit(0); }), HasSubstr("breaks the HDF5 library"));
}

TEST(Isolated, TimeAndMemoryAreBounded) {
  const auto wait = []() -> Bytes {
    for (;;) {
      ::pause();
    }
  };
  EXPECT_EQ(error_of(wait, {.seconds = 1}), "x.h5: expected a readable file, found one that takes longer than 1 s");
#if !defined(__SANITIZE_ADDRESS__)
  const auto fill = [] { return Bytes(std::size_t{64} << 20, 1); };
  EXPECT_EQ(error_of(fill, {.memory = std::uint64_t{16} << 20}),
            "x.h5: expected a file to read in 16 MiB of memory, found one that needs more");
#endif
  const TemporaryDirectory directory;
  write_bytes(directory / "large", "");
  std::filesystem::resize_file(directory / "large", std::uint64_t{1} << 36);  // sparse
  EXPECT_GE(IsolationLimits::for_whole(directory / "large").memory, std::uint64_t{1} << 37);
  EXPECT_GT(IsolationLimits::for_whole(directory / "large").seconds, 1000U);
  EXPECT_EQ(IsolationLimits::for_whole(directory / "none").seconds, IsolationLimits{}.seconds);
}

}  // namespace
}  // namespace tessera::test
