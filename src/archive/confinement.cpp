#include "archive/confinement.hpp"

#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "base/errors.hpp"

namespace tessera {
namespace {

[[noreturn]] void fail(const std::string& what, int error) {
  throw JobError("cannot be read in a confined process: " + what + ": " + std::strerror(error));
}

/// Descriptors 0 to 2 lead nowhere, the others but `output` are closed.
void leave_descriptors(int output) {
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere < 0) {
    fail("/dev/null", errno);
  }
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (standard != output && ::dup2(nowhere, standard) < 0) {
      fail("/dev/null", errno);
    }
  }
  const auto kept = static_cast<unsigned>(output);
  if ((kept > 3 && ::close_range(3, kept - 1, 0) != 0) || ::close_range(std::max(3U, kept + 1), ~0U, 0) != 0) {
    fail("closing files", errno);
  }
}

#if !defined(__SANITIZE_ADDRESS__)
/// The rules of the filter, added one by one; what no rule allows ends the process.
class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_KILL_PROCESS)) {
    if (context_ == nullptr) {
      fail("seccomp", ENOSYS);  // the kernel, or what stands for one, does not offer to end a process
    }
  }
  ~Filter() { seccomp_release(context_); }
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  template <class... Comparisons>
  void allow(int call, Comparisons... comparisons) {
    add(SCMP_ACT_ALLOW, call, comparisons...);
  }
  template <class... Comparisons>
  void add(std::uint32_t action, int call, Comparisons... comparisons) {
    const int result = seccomp_rule_add(context_, action, call, sizeof...(comparisons), comparisons...);
    if (result != 0) {
      fail("seccomp", -result);
    }
  }
  /// Sets no_new_privs, too.
  void load() {
    const int result = seccomp_load(context_);
    if (result != 0) {
      fail("seccomp", -result);
    }
  }

 private:
  scmp_filter_ctx context_;
};

void filter_calls(int output) {
  Filter filter;
  filter.allow(SCMP_SYS(write), SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(output), 0));
  for (const int call :
       {SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(futex), SCMP_SYS(sched_yield),
        SCMP_SYS(clock_gettime), SCMP_SYS(getcwd), SCMP_SYS(gettimeofday), SCMP_SYS(getrandom),
        SCMP_SYS(restart_syscall), SCMP_SYS(rt_sigreturn), SCMP_SYS(exit), SCMP_SYS(exit_group)}) {
    filter.allow(call);
  }
  constexpr scmp_datum_t anonymous = MAP_ANONYMOUS;
  constexpr scmp_datum_t executable = PROT_EXEC;
  filter.allow(SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, executable, 0),
               SCMP_A3(SCMP_CMP_MASKED_EQ, anonymous, anonymous));
  filter.allow(SCMP_SYS(mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, executable, 0));
  // so that abort() ends as abort() does, without its message
  for (const int call : {SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigaction)}) {
    filter.allow(call);
  }
  filter.allow(SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(::getpid()), 0));
  filter.add(SCMP_ACT_ERRNO(EPERM), SCMP_SYS(writev));
  // the HDF5 library makes sure that there is no file of an image's name
  filter.add(SCMP_ACT_ERRNO(ENOENT), SCMP_SYS(open));
  filter.add(SCMP_ACT_ERRNO(ENOENT), SCMP_SYS(openat));
  filter.load();
}
#else
void filter_calls(int /*output*/) {}
#endif

}  // namespace

void confine(int output) {
  leave_descriptors(output);
  if (::prctl(PR_SET_DUMPABLE, 0) != 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    fail("prctl", errno);
  }
  filter_calls(output);
}

}  // namespace tessera
