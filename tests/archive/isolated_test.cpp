#include <gmock/gmock.h>
#include <fcntl.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <map>
#include "base/errors.hpp"
#include "archive/isolated.hpp"
#include "archive/proof_file.hpp"

#include "samples.hpp"
#include "../files/temporary_directory.hpp"

namespace tessera::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using ::testing::HasSubstr;

/// A file that the child may read, without the content that it has no need of.
struct File {
  File() { write_bytes(path, "x"); }
  TemporaryDirectory directory;
  const std::filesystem::path path = directory / "x.h5";
};

/// The error of reading a file with `read`, without the file's name.
std::string error_of(const std::function<Bytes()>& read, const IsolationLimits& limits = {}) {
  const File file;
  try {
    (void)read_isolated(
        file.path, [&](auto) { return read(); }, limits);
    return "none";
  } catch (const InputError& error) {
    const std::string text = error.what();
    return text.starts_with(file.path.string()) ? text.substr(file.path.string().size()) : text;
  }
}

TEST(Isolated, gives_what_the_child_reads) {
  const File file;
  EXPECT_TRUE(read_isolated(file.path, [](auto) { return Bytes{}; }).empty());
  for (const std::size_t size : {1U, 65536U, 1048576U, 5U << 20U, 40U << 20U}) {  // more than is kept ready, too
    Bytes large(size);
    std::uint32_t state = 1;
    std::ranges::generate(large,
                          [&] { return static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24); });
    EXPECT_EQ(read_isolated(file.path, [&](auto) { return large; }), large) << size;
  }
  const TemporaryDirectory directory;
  save_proof(directory / "p.h5", small_proof());
  EXPECT_EQ(load_proof_isolated(directory / "p.h5").payload, small_proof().payload);
  EXPECT_EQ(load_proof_isolated(std::filesystem::relative(directory / "p.h5")).payload, small_proof().payload);
}

TEST(Isolated, a_proof_is_read_while_others_are_and_nothing_of_what_is_none) {
  const TemporaryDirectory directory;
  auto long_proof = small_proof();
  long_proof.payload.resize(1U << 20U, 7);  // more than a pipe holds: its child waits
  save_proof(directory / "p.h5", long_proof);
  const File file;
  ProofBeside beside(directory / "p.h5");
  ProofBeside none(directory / "none.h5");
  ProofBeside another(file.path);
  const ProofBeside never_taken(directory / "p.h5");
  EXPECT_EQ(load_proof_isolated(directory / "p.h5").payload, long_proof.payload);
  const auto proof = beside.take();
  ASSERT_TRUE(proof);
  EXPECT_EQ(proof->statement, long_proof.statement);
  EXPECT_EQ(proof->payload, long_proof.payload);
  EXPECT_EQ(proof->key_digest, long_proof.key_digest);
  EXPECT_FALSE(beside.take());
  EXPECT_FALSE(none.take());
  EXPECT_FALSE(another.take());
}

TEST(Isolated, of_a_proof_only_what_the_child_writes_is_taken) {
  StoredProof proof;
  proof.statement.prompt = {1, 2, 3};
  proof.statement.generated = {4};
  proof.statement.start = {{11}, 12, 13};
  proof.statement.keeps = true;
  proof.statement.pass_length = 16;
  proof.statement.sampling = Sampling{5851, 40, 62259, 12000, {1, 2, 3}};
  proof.payload = {5, 6, 7, 8, 9};
  proof.key_digest = {10};
  const Bytes bytes = encode_proof(proof);
  const StoredProof taken = decode_proof(bytes);
  EXPECT_EQ(taken.statement, proof.statement);
  EXPECT_EQ(taken.payload, proof.payload);
  EXPECT_EQ(taken.key_digest, proof.key_digest);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW((void)decode_proof(std::span(bytes).first(size)), InputError) << size;
  }
  Bytes more = bytes;
  more.push_back(0);
  EXPECT_THROW((void)decode_proof(more), InputError);
  for (const std::size_t length : {0U, 20U, 131U}) {  // where the lists' lengths lie
    for (const std::uint8_t value : Bytes{6, 255}) {
      Bytes changed = bytes;
      changed.at(length) = value;
      EXPECT_THROW((void)decode_proof(changed), InputError) << length;
      changed.at(length + 7) = value;
      EXPECT_THROW((void)decode_proof(changed), InputError) << length;
    }
  }
}

TEST(Isolated, errors_and_the_childs_end_are_input_errors) {
  EXPECT_EQ(error_of([]() -> Bytes { throw JobError("x.h5: whatever"); }), "x.h5: whatever");
  EXPECT_THAT(error_of([]() -> Bytes { throw InputError(std::string(100000, 'a')); }), HasSubstr("aaa"));
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGKILL}) {
    const auto die = [signal]() -> Bytes {
      std::raise(signal);
      return {};
    };
    EXPECT_EQ(error_of(die), ": expected a readable file, found one that breaks the reader") << signal;
  }
  EXPECT_THAT(error_of([]() -> Bytes { std::abort(); }), HasSubstr("breaks the reader"));
  EXPECT_THAT(error_of([]() -> Bytes { ::_exit(0); }), HasSubstr("breaks the reader"));
}

TEST(Isolated, files_that_are_none_are_refused) {
  const TemporaryDirectory directory;
  for (const auto& path : {directory / "none", directory / "", std::filesystem::path("/dev/zero")}) {
    EXPECT_THROW((void)read_isolated(path, [](auto) { return Bytes{1}; }), InputError) << path;
  }
  write_bytes(directory / "empty", "");
  EXPECT_THROW((void)read_isolated(directory / "empty", [](auto) { return Bytes{1}; }), InputError);
}

/// Tells whether a call in the child came back; `call` returns -1 if it was refused.
std::string after(const std::function<long()>& call) {
  return error_of([&]() -> Bytes {
    const long result = call();
    throw InputError(result < 0 ? "refused" : "done");
  });
}

TEST(Isolated, the_child_has_no_terminal_and_no_other_file) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const auto descriptors = [&] {
    const auto is_open = [](int file) { return ::fcntl(file, F_GETFD) >= 0; };
    return is_open(ends[0]) || is_open(ends[1]);
  };
  // the filter ends a child that asks; without one (sanitizer) there is nothing to be found
  EXPECT_NE(after([&] { return descriptors() ? 0 : -1; }), "done");
  ::close(ends[0]);
  ::close(ends[1]);
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(Isolated, any_call_but_reading_ends_the_child) {
  const std::string killed = ": expected a readable file, found one with which the reader does more than read";
  const pid_t parent = ::getpid();
  const std::map<std::string, std::function<long()>> calls = {
      {"write to standard output", [] { return ::write(STDOUT_FILENO, "x", 1); }},
      {"write to standard error", [] { return ::write(STDERR_FILENO, "x", 1); }},
      {"read",
       [] {
         char c = 0;
         return ::read(STDIN_FILENO, &c, 1);
       }},
      {"ioctl", [] { return ::ioctl(STDIN_FILENO, TIOCSTI, "x"); }},
      {"socket", [] { return ::socket(AF_INET, SOCK_STREAM, 0); }},
      {"ptrace", [&] { return ::ptrace(PTRACE_ATTACH, parent, nullptr, nullptr); }},
      {"read of memory",
       [&] {
         char c = 0;
         iovec part{&c, 1};
         return ::process_vm_readv(parent, &part, 1, &part, 1, 0);
       }},
      {"kill", [&] { return ::kill(parent, 0); }},
      {"signal to the parent's thread", [&] { return ::syscall(SYS_tgkill, parent, parent, 0); }},
      {"fork", [] { return ::fork(); }},
      {"exec", [] { return ::execl("/bin/true", "true", nullptr); }},
      {"limits",
       [] {
         rlimit limit{1, 1};
         return ::setrlimit(RLIMIT_CORE, &limit);
       }},
      {"code", [] {
         void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
         return page == MAP_FAILED ? -1 : 0;
       }}};
  for (const auto& [name, call] : calls) {
    EXPECT_EQ(after(call), killed) << name;
  }
  EXPECT_EQ(after([] { return ::getpid(); }), "done");
  for (const char* const path : {"/etc/passwd", "/dev/tty", "/dev/null"}) {
    EXPECT_EQ(after([path] { return ::open(path, O_RDONLY); }), "refused") << path;
    EXPECT_EQ(after([path] { return ::open(path, O_RDWR); }), "refused") << path;
  }
  const File file;
  EXPECT_EQ(after([&] { return ::open((file.directory / "new").c_str(), O_WRONLY | O_CREAT, 0600); }), "refused");
}

/// Has the kernel refuse filters from now on, then reads.
[[noreturn]] void read_without_seccomp() {
  const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(seccomp), 0);
  seccomp_rule_add(filter, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(prctl), 1, SCMP_A0(SCMP_CMP_EQ, PR_SET_SECCOMP));
  seccomp_load(filter);
  const File file;
  try {
    (void)read_isolated(file.path, [](auto) { return Bytes{1}; });
    std::cerr << "read";
  } catch (const JobError& error) {
    std::cerr << error.what();
  }
  ::_exit(0);
}

TEST(IsolatedDeathTest, without_seccomp_nothing_is_read) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(read_without_seccomp(), testing::ExitedWithCode(0),
              "x.h5: cannot be read in a confined process: seccomp");
}
#endif

TEST(Isolated, time_and_memory_are_bounded) {
  const auto wait = []() -> Bytes {
    volatile int turns = 0;
    for (;;) {
      turns = 1 - turns;
    }
  };
  const std::string late = ": expected a readable file, found one that takes longer than 1 s";
  EXPECT_EQ(error_of(wait, {.seconds = 1}), late);
  const auto wait_on = [&] {
    std::signal(SIGALRM, SIG_IGN);  // as one that a file has taken over may
    return wait();
  };
  EXPECT_EQ(error_of(wait_on, {.seconds = 1}), late);
  const auto flood = []() -> Bytes { return Bytes((std::size_t{1} << 28) + 1, 7); };
  EXPECT_EQ(error_of(flood), ": expected a readable file, found one that breaks the reader");
#if !defined(__SANITIZE_ADDRESS__)
  const auto fill = [] { return Bytes(std::size_t{64} << 20, 1); };
  EXPECT_EQ(error_of(fill, {.memory = std::uint64_t{16} << 20}),
            ": expected a file to read in 16 MiB of memory, found one that needs more");
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
