#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <optional>
#include "base/errors.hpp"
#include "archive/confinement.hpp"
#include "archive/isolated.hpp"
#include "archive/naming.hpp"
#include "archive/plain_bytes.hpp"
#include "datasets/image_file.hpp"
#include "datasets/key_archive.hpp"
#include "datasets/proof_archive.hpp"

namespace tessera {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint8_t content_follows = 0;
constexpr std::uint8_t message_follows = 1;  // of an InputError
constexpr std::uint8_t failure_follows = 2;  // message of a JobError
constexpr std::size_t max_message = 4096;
constexpr std::size_t max_content = std::size_t{1} << 28;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close_now(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }
  void close_now() {
    if (number_ >= 0) {
      ::close(number_);
      number_ = -1;
    }
  }

 private:
  int number_;
};

using Image = std::span<const std::uint8_t>;

/// Whether all bytes could be written: not where the reader is gone, or a file in memory has become shorter meanwhile.
bool write_all(int to, Image bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(to, bytes.data(), bytes.size());
    if (count <= 0) {
      return false;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

/// In the child, which ends where it cannot send.
void send(int to, std::uint8_t kind, Image bytes) {
  if (!write_all(to, {&kind, 1}) || !write_all(to, bytes)) {
    _exit(1);
  }
}

#if !defined(__SANITIZE_ADDRESS__)
/// Bounds the address space; MPI and the like have some of it already.
void limit_memory(std::uint64_t bytes) {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t total = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + bytes;
  const rlimit memory{total, total};
  setrlimit(RLIMIT_AS, &memory);
}
#else
void limit_memory(std::uint64_t /*bytes*/) {}  // the sanitizer reserves terabytes
#endif

void send_error(int to, std::string_view text, std::uint8_t kind = message_follows) {
  text = text.substr(0, max_message);
  send(to, kind, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

/// What a child does: `open` before it is confined, `answer` after.
struct Task {
  std::function<Image()> open;
  std::function<void(Image, int to)> answer;
};

/// Sends what `read` makes of the image, or which part of it it returns.
template <class Read>
std::function<void(Image, int to)> sends(const Read& read) {
  return [&read](Image image, int to) { send(to, content_follows, read(image)); };
}

/// Never returns: the child's whole life.
[[noreturn]] void read_in_child(const std::filesystem::path& path, int to, const Task& task,
                                const IsolationLimits& limits) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody waits for it then
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGINT, SIGTERM, SIGHUP}) {
    std::signal(signal, SIG_DFL);
  }
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  alarm(limits.seconds);
  try {
    const Image image = task.open();
    limit_memory(limits.memory);
    try {
      confine(to);
    } catch (const JobError& error) {
      send_error(to, path.string() + ": " + error.what(), failure_follows);
      _exit(0);
    }
    task.answer(image, to);
  } catch (const std::bad_alloc&) {
    send_error(to, path.string() + ": expected a file to read in " + std::to_string(limits.memory >> 20U) +
                       " MiB of memory, found one that needs more");
  } catch (const std::exception& error) {
    send_error(to, error.what());
  }
  _exit(0);
}

/// What a child said before its time was over.
struct Answer {
  std::optional<std::uint8_t> kind;  // what follows
  Bytes content;
  bool ended = false;  // all of it: the child has closed its end
  bool late = false;
};

/// Asks for huge pages behind an answer that has become long, up to the memory kept for it: it is filled in less time.
void expect_more(Bytes& content) {
  constexpr std::size_t huge = std::size_t{1} << 21U;
  void* begin = content.data() + content.size();
  std::size_t space = content.capacity() - content.size();
  if (content.size() < huge || std::align(huge, huge, begin, space) == nullptr) {
    return;
  }
  ::madvise(begin, space / huge * huge, MADV_HUGEPAGE);
}

/// Reads what is there, at most what is kept ready for it behind the first `filled` bytes; returns as read(2) does.
ssize_t read_some(int from, Answer& answer, std::size_t filled) {
  constexpr std::size_t least = std::size_t{1} << 16U, ready = std::size_t{1} << 20U;
  if (!answer.kind) {
    std::uint8_t kind = 0;
    const ssize_t count = ::read(from, &kind, 1);
    if (count == 1) {
      answer.kind = kind;
    }
    return count;
  }
  if (answer.content.size() - filled < least) {
    answer.content.resize(filled + ready);
    expect_more(answer.content);
  }
  return ::read(from, answer.content.data() + filled, answer.content.size() - filled);
}

/// Reads until the child ends. Its own alarm() is the rule; a child that a file has taken over can ignore that.
Answer listen(int from, const IsolationLimits& limits) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds grace{1};
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(limits.seconds) + grace;
  Answer answer;
  answer.content.reserve(std::size_t{1} << 25U);  // of addresses: most answers grow without being copied
  std::size_t filled = 0;
  while (!answer.ended && !answer.late && filled <= max_content) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{from, POLLIN, 0};
    const int ready = left <= 0 ? 0 : ::poll(&waiting, 1, static_cast<int>(std::min<decltype(left)>(left, 1000)));
    answer.late = left <= 0;
    const bool had_kind = answer.kind.has_value();
    const ssize_t count = ready > 0 ? read_some(from, answer, filled) : -1;
    answer.ended = count == 0;
    filled += had_kind && count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  answer.content.resize(filled);
  return answer;
}

/// What the end of a child that did not answer says about the file.
std::string describe_end(int status, bool late, const IsolationLimits& limits) {
  const int signal = late ? SIGALRM : WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return signal == SIGALRM  ? "one that takes longer than " + std::to_string(limits.seconds) + " s"
         : signal == SIGSYS ? "one with which the reader does more than read"
                            : "one that breaks the reader";
}

/// What the child said; its error, or its end, is thrown.
Bytes content_of(const std::filesystem::path& path, Answer& answer, int status, const IsolationLimits& limits) {
  const bool ended = answer.ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  const Bytes& content = answer.content;
  if (!ended || !answer.kind || content.size() > max_content) {
    throw InputError(path.string() + ": expected a readable file, found " + describe_end(status, answer.late, limits));
  }
  if (answer.kind != content_follows) {
    const std::string message(content.begin(),
                              content.begin() + static_cast<std::ptrdiff_t>(std::min(content.size(), max_message)));
    if (answer.kind == failure_follows) {
      throw JobError(message);
    }
    throw InputError(message);
  }
  return std::move(answer.content);
}

Bytes run_isolated(const std::filesystem::path& path, const Task& task, const IsolationLimits& limits) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw JobError(path.string() + ": pipe: " + std::strerror(errno));
  }
  Descriptor from(ends[0]);
  Descriptor to(ends[1]);
  constexpr int pipe_bytes = 1 << 20;  // both work at the same time; where that is too much, in shorter turns
  ::fcntl(to.number(), F_SETPIPE_SZ, pipe_bytes);
  const pid_t child = ::fork();
  if (child < 0) {
    throw JobError(path.string() + ": fork: " + std::strerror(errno));
  }
  if (child == 0) {
    from.close_now();
    read_in_child(path, to.number(), task, limits);
  }
  to.close_now();
  Answer answer = listen(from.number(), limits);
  if (!answer.ended) {
    ::kill(child, SIGKILL);
  }
  from.close_now();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return content_of(path, answer, status, limits);
}

}  // namespace

IsolationLimits IsolationLimits::for_whole(const std::filesystem::path& path) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  IsolationLimits limits;
  if (!error) {
    limits.seconds += static_cast<unsigned>(std::min<std::uint64_t>(size >> 24U, 1U << 20U));  // 16 MiB/s: slow disks
    limits.memory += 3 * size;  // a dataset twice beside what was read before
  }
  return limits;
}

Bytes read_isolated(const std::filesystem::path& path, const ImageReader& read, const IsolationLimits& limits,
                    const std::function<void()>& prepare) {
  const auto open = [&] {
    if (prepare) {
      prepare();
    }
    return map_file(path);
  };
  return run_isolated(path, {open, sends(read)}, limits);
}

Bytes read_isolated(const std::filesystem::path& name, Image image, const ImageReader& read,
                    const IsolationLimits& limits) {
  return run_isolated(name, {[image] { return image; }, sends(read)}, limits);
}

Bytes read_isolated(const std::filesystem::path& name, const FilePart& part, const ImageReader& read,
                    const IsolationLimits& limits) {
  return run_isolated(name, {[&] { return map_part(part, name); }, sends(read)}, limits);
}

Bytes encode_proof(const StoredProof& proof) {
  Bytes bytes;
  append_list(bytes, proof.statement.prompt);
  append_list(bytes, proof.statement.generated);
  const std::array<std::uint8_t, 3> flags{proof.statement.start.has_value(), proof.statement.keeps,
                                          proof.statement.sampling.has_value()};
  append_bytes(bytes, flags.data(), flags.size());
  const ConversationState start = proof.statement.start.value_or(ConversationState{});
  append_bytes(bytes, start.root.data(), start.root.size());
  append_bytes(bytes, &start.length, sizeof start.length);
  append_bytes(bytes, &start.last_token, sizeof start.last_token);
  append_bytes(bytes, &proof.statement.pass_length, sizeof proof.statement.pass_length);
  const Sampling sampling = proof.statement.sampling.value_or(Sampling{});
  for (const std::uint32_t number : {sampling.inverse_temperature, sampling.top_k, sampling.top_p, sampling.cutoff}) {
    append_bytes(bytes, &number, sizeof number);
  }
  append_bytes(bytes, sampling.seed.data(), sampling.seed.size());
  append_list(bytes, proof.payload);
  append_bytes(bytes, proof.key_digest.data(), proof.key_digest.size());
  return bytes;
}

StoredProof decode_proof(std::span<const std::uint8_t> bytes) {
  Taker taker(bytes);
  StoredProof proof;
  proof.statement.prompt = taker.list<std::vector<std::uint32_t>>();
  proof.statement.generated = taker.list<std::vector<std::uint32_t>>();
  std::array<std::uint8_t, 3> flags{};
  ConversationState start;
  taker.take(flags.data(), flags.size());
  taker.take(start.root.data(), start.root.size());
  taker.take(&start.length, sizeof start.length);
  taker.take(&start.last_token, sizeof start.last_token);
  taker.take(&proof.statement.pass_length, sizeof proof.statement.pass_length);
  Sampling sampling;
  for (std::uint32_t* const number :
       {&sampling.inverse_temperature, &sampling.top_k, &sampling.top_p, &sampling.cutoff}) {
    taker.take(number, sizeof *number);
  }
  taker.take(sampling.seed.data(), sampling.seed.size());
  if (flags[0] != 0) {
    proof.statement.start = start;
  }
  if (flags[2] != 0) {
    proof.statement.sampling = sampling;
  }
  proof.statement.keeps = flags[1] != 0;
  proof.payload = taker.list<Bytes>();
  taker.take(proof.key_digest.data(), proof.key_digest.size());
  taker.finish();
  return proof;
}

namespace {

/// A key's bytes, sent from where they lie in the file.
IdentifiedKey load_key(const std::filesystem::path& name, const std::function<Image()>& open) {
  const auto part = [&](Image image) {
    return key_bytes_in(ImageFile(name.string(), image, key_format, max_key_file_bytes));
  };
  return naming(name, [&] { return IdentifiedKey::decode(run_isolated(name, {open, sends(part)}, {})); });
}

ImageReader proof_reader(const std::filesystem::path& name) {
  return [name](Image image) {
    ProofArchive proof = read_proof(ImageFile(name.string(), image, proof_format, max_proof_file_bytes));
    return encode_proof({std::move(proof.statement), std::move(proof.payload), proof.key_digest});
  };
}

}  // namespace

IdentifiedKey load_key_isolated(const std::filesystem::path& path) {
  return load_key(path, [&] { return map_file(path); });
}

IdentifiedKey load_key_isolated(const std::filesystem::path& name, Image image) {
  return load_key(name, [&] { return image; });
}

StoredProof load_proof_isolated(const std::filesystem::path& path) {
  return naming(path, [&] { return decode_proof(read_isolated(path, proof_reader(path))); });
}

StoredProof load_proof_isolated(const std::filesystem::path& name, const FilePart& part) {
  return naming(name, [&] { return decode_proof(read_isolated(name, part, proof_reader(name))); });
}

StoredProof load_proof_isolated(const std::filesystem::path& name, Image image) {
  return naming(name, [&] { return decode_proof(read_isolated(name, image, proof_reader(name))); });
}

}  // namespace tessera
